// A process of this machine that sandboxes are to find nothing of: its mark is its argument. Ends with whoever started it.
process.stdin.resume().on("end", () => process.exit());
