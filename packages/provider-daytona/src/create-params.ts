import type { CreateOptions } from "@sandkit/core";
import type { SandboxRecord } from "@sandkit/core/kit";
import type { Sdk } from "./client.js";
import { labelsOf } from "./labels.js";
import { minutesOf } from "./minutes.js";
import { vendorName } from "./names.js";
import type { CreateParams } from "./obtain.js";
import type { SandboxPlan } from "./plan-sandbox.js";

/** What Daytona is told to make of a plan. */
export function createParams(
  { Image }: Sdk,
  create: CreateOptions,
  plan: SandboxPlan,
  record: SandboxRecord,
  lifeMs: number,
): CreateParams {
  const { start, native, resources } = plan;
  const common = {
    name: vendorName(record),
    labels: labelsOf(record, start.image !== undefined),
    envVars: { ...create.env },
    // Counts calls of its API, not programs that run.
    autoStopInterval: 0,
    autoPauseInterval: 0,
    ttlMinutes: minutesOf(lifeMs),
    ...plan.egressAtFirst,
    ...(native.user !== undefined && { user: native.user }),
    ...(native.public !== undefined && { public: native.public }),
    ...(native.volumes && { volumes: native.volumes.map((volume) => definedOf(volume)) }),
    ...(native.secrets && { secrets: { ...native.secrets } }),
  };
  if (start.image === undefined)
    return { ...common, ...(start.snapshot !== undefined && { snapshot: start.snapshot }) };
  const image = Image.base(start.image);
  const built = start.build?.length ? image.runCommands(...start.build) : image;
  return { ...common, image: built, ...(resources && { resources }) };
}

function definedOf<T extends { readonly subpath?: string | undefined }>({ subpath, ...volume }: T) {
  return { ...volume, ...(subpath !== undefined && { subpath }) };
}
