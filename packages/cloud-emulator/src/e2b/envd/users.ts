import { ConnectFailure } from "./connect-failure.js";

/** Both are there in every template; in an emulated machine both are the one user of its box. */
const users: readonly string[] = ["user", "root"];
const defaultUser = "user";

/** The user that a call is made as. @throws ConnectFailure `unauthenticated` */
export function userOf(authorization: string | undefined): string {
  if (authorization === undefined) return defaultUser;
  const [scheme, value = ""] = authorization.split(" ");
  if (scheme?.toLowerCase() !== "basic") return defaultUser;
  const [name = ""] = Buffer.from(value, "base64").toString("utf8").split(":");
  return knownUser(name);
}

/** @throws ConnectFailure `unauthenticated` */
export function knownUser(name: string | undefined): string {
  if (!name) return defaultUser;
  if (users.includes(name)) return name;
  throw new ConnectFailure("unauthenticated", `invalid username: '${name}'`);
}
