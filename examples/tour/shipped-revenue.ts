/**
 * The revenue that the report must find, reckoned here a second time: the tour compares the two.
 * Of quoted fields it needs none, so they are left out before a line is split at its commas.
 */
export function shippedRevenue(csv: string): string {
  const [, ...lines] = csv.trim().split("\n");
  const fields = lines.map((line) => line.replaceAll(/"[^"]*"/g, "").split(","));
  const orders = new Map(fields.map((order) => [order[0], order]));
  let tenThousandths = 0;
  for (const order of orders.values()) {
    const [quantity = "", price = "", discount = "", status = ""] = order.slice(6);
    if (status !== "shipped") continue;
    const cents = Math.round(Number(price) * 100);
    tenThousandths += Number(quantity) * cents * (100 - Number(discount));
  }
  return (tenThousandths / 10_000).toFixed(2);
}
