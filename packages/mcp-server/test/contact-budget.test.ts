import type { Contact } from "@sandkit/core";
import { expect, it } from "vitest";
import { ContactBudget, type OmittedContacts } from "../src/audit/contact-budget.js";

it("more contacts than a log could take are told as a sum, and none is left out", async () => {
  let told = 0;
  const sums: OmittedContacts[] = [];
  const budget = new ContactBudget({ contact: () => (told += 1), omitted: (sum) => sums.push(sum) });
  const many = 5_000;
  for (let count = 0; count < many; count++) {
    const decision: Contact["decision"] = count % 2 === 0 ? "allowed" : "refused";
    const host = `${count}.example.com`;
    budget.tell({ host, port: 80, protocol: "http", decision, bytesIn: 1, bytesOut: 2, at: new Date(count) });
  }
  expect(told).toBeLessThan(2_000);
  await expect.poll(() => sums.length, { timeout: 10_000 }).toBe(1);
  // Every other one was allowed, and those that came first were told one by one.
  const rest = many - told;
  expect(sums).toEqual([
    {
      allowed: Math.floor(rest / 2),
      refused: Math.ceil(rest / 2),
      bytesIn: rest,
      bytesOut: 2 * rest,
      at: new Date(told),
    },
  ]);
});
