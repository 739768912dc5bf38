import * as z from "zod";

/** The type of a figure of plotly as JSON. */
export const plotlyType = "application/vnd.plotly.v1+json";

/** Traces that are named one by one. */
const maxNamed = 8;

const title = z.union([z.string(), z.object({ text: z.string() }).transform(({ text }) => text)]).optional();
const figure = z.object({
  data: z.array(z.object({ type: z.string().default("scatter"), name: z.string().optional() })),
  layout: z.object({ title: title.catch(undefined) }).optional(),
});

/** A figure of plotly in words, for a model that cannot see it: its title and its traces. */
export function describePlotly(plot: unknown): string {
  const parsed = figure.safeParse(plot);
  if (!parsed.success) return "plotly figure";
  const { data, layout } = parsed.data;
  const traces = data.slice(0, maxNamed).map(({ type, name }) => (name === undefined ? type : `${type} "${name}"`));
  if (data.length > maxNamed) traces.push(`${data.length - maxNamed} more`);
  const heading = layout?.title === undefined ? "" : ` "${layout.title}"`;
  return `plotly figure${heading} (${traces.join(", ")}), as JSON`;
}
