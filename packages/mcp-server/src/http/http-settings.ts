import * as z from "zod";

const loopbackHost = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** An address to which secrets go: encrypted, unless it is on this machine. */
const secureUrl = z.string().refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && loopbackHost.test(hostname));
}, "must be an https:// address (http:// only on this machine)");

const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text,
    "must be an origin such as https://app.example.com",
  );

const oauth = z.strictObject({
  issuer: secureUrl.meta({ description: "Authorization server; its name in the claim iss." }),
  audience: z
    .string()
    .min(1)
    .meta({ description: "What the claim aud of every token must hold; default: http.publicUrl." })
    .optional(),
  jwksUrl: secureUrl
    .meta({ description: "The issuer's public keys; default: as its metadata document tells." })
    .optional(),
  scopes: z.array(z.string().min(1)).meta({ description: "Scopes that every token must have." }).default([]),
  userClaim: z
    .string()
    .min(1)
    .meta({ description: "Claim that tells users apart: each sees only their own sandboxes." })
    .default("sub"),
});

/** The key `http` of the config. */
export const httpSettings = z.strictObject({
  publicUrl: secureUrl
    .meta({ description: "The endpoint as clients reach it, through a proxy: https://sandbox.example.com/mcp" })
    .optional(),
  allowedOrigins: z
    .array(origin)
    .meta({ description: "Web pages of these origins may call from a browser (CORS); default none." })
    .default([]),
  requestsPerMinute: z
    .int()
    .positive()
    .meta({ description: "Requests of one user; more are answered 429 with the time to wait." })
    .default(6_000),
  drainSeconds: z
    .number()
    .min(0)
    .max(3_600)
    .meta({ description: "How long calls under way may go on once the server is told to end." })
    .default(10),
  oauth: oauth.meta({ description: "Accept access tokens of this authorization server (OAuth 2.1)." }).optional(),
});

export type OAuthSettings = z.infer<typeof oauth>;
