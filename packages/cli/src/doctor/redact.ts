import { homedir } from "node:os";

/** The same text without what a bug report should not tell: the home folder, and values of keys in the environment. */
export function redact(text: string, env: NodeJS.ProcessEnv = process.env): string {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= 8 && /(?:KEY|TOKEN|SECRET|PASSWORD)$/i.test(name) ? [value] : [],
  );
  const home = homedir();
  const withoutSecrets = secrets.reduce((result, secret) => result.replaceAll(secret, "…"), text);
  return home.length > 1 ? withoutSecrets.replaceAll(home, "~") : withoutSecrets;
}
