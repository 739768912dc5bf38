/**
 * The revenue that the report must find, reckoned here a second time: the tour compares the two.
 * The export quotes no field, so its lines can be split at commas.
 */
export function shippedRevenue(csv: string): string {
  const [, ...lines] = csv.trim().split("\n");
  const orders = new Map(lines.map((line) => [line.split(",")[0], line.split(",")]));
  let tenThousandths = 0;
  for (const order of orders.values()) {
    const [quantity = "", price = "", discount = "", status = ""] = order.slice(6);
    if (status !== "shipped") continue;
    const cents = Math.round(Number(price) * 100);
    tenThousandths += Number(quantity) * cents * (100 - Number(discount));
  }
  return (tenThousandths / 10_000).toFixed(2);
}
