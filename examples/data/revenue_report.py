"""Revenue by month and by product from a shop's order export, stdlib only."""

import csv
import json
import sys
from collections import defaultdict
from decimal import Decimal


def read_orders(path):
    """The orders, each once: the export repeats lines after a retry."""
    with open(path, newline="", encoding="utf-8") as file:
        return list({row["order_id"]: row for row in csv.DictReader(file)}.values())


def net(order):
    discount = Decimal(order["discount_percent"] or 0)
    return int(order["quantity"]) * Decimal(order["unit_price"]) * (100 - discount) / 100


def totals(orders, key):
    sums = defaultdict(Decimal)
    for order in orders:
        sums[key(order)] += net(order)
    return sums


def bar(value, largest, width=24):
    return "█" * max(1, round(width * value / largest))


path = sys.argv[1] if len(sys.argv) > 1 else "orders.csv"
orders = read_orders(path)
sold = [order for order in orders if order["status"] == "shipped"]
by_month = totals(sold, lambda order: order["date"][:7])
by_product = totals(sold, lambda order: order["product"])
total = sum(by_month.values())

print(f"{len(orders)} orders, {len(sold)} shipped, {total:.2f} EUR")
for month, revenue in sorted(by_month.items()):
    print(f"  {month}  {revenue:9.2f}  {bar(revenue, max(by_month.values()))}")
print("best products")
for product, revenue in sorted(by_product.items(), key=lambda item: -item[1])[:3]:
    print(f"  {revenue:9.2f}  {product}")

with open("revenue.json", "w", encoding="utf-8") as file:
    json.dump({"orders": len(orders), "shipped": len(sold), "revenue": f"{total:.2f}"}, file)
