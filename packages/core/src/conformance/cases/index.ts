import type { ConformanceCase } from "../conformance-case.js";
import { approvalCases } from "./approval.js";
import { archiveCases } from "./archives.js";
import { bigFileCases } from "./big-files.js";
import { capabilityCases } from "./capabilities.js";
import { concurrencyCases } from "./concurrency.js";
import { deadlineCases } from "./deadlines.js";
import { directoryCases } from "./directories.js";
import { environmentCases } from "./environment.js";
import { errorCases } from "./errors.js";
import { execCases } from "./exec.js";
import { fileNameCases } from "./file-names.js";
import { fileCases } from "./files.js";
import { gitCases } from "./git.js";
import { gitServerCases } from "./git-server.js";
import { identityCases } from "./identity.js";
import { kernelCases } from "./kernel.js";
import { kernelControlCases } from "./kernel-control.js";
import { kernelHandleCases } from "./kernel-handles.js";
import { kernelLanguageCases } from "./kernel-languages.js";
import { kernelOutputCases } from "./kernel-output.js";
import { killCases } from "./kill.js";
import { lifecycleCases } from "./lifecycle.js";
import { lifetimeCases } from "./lifetime.js";
import { networkCases } from "./network.js";
import { outputCases } from "./output.js";
import { outputLimitCases } from "./output-limits.js";
import { packageCases } from "./packages.js";
import { persistenceCases } from "./persistence.js";
import { processCases } from "./process.js";
import { processOutputCases } from "./process-output.js";
import { resourceCases } from "./resources.js";
import { stdinCases } from "./stdin.js";
import { symlinkCases } from "./symlinks.js";
import { terminalCases } from "./terminal.js";
import { watchCases } from "./watch.js";

/** The whole suite, in the order in which it is run. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...capabilityCases,
  ...lifecycleCases,
  ...identityCases,
  ...lifetimeCases,
  ...persistenceCases,
  ...errorCases,
  ...approvalCases,
  ...execCases,
  ...environmentCases,
  ...terminalCases,
  ...stdinCases,
  ...outputCases,
  ...outputLimitCases,
  ...killCases,
  ...deadlineCases,
  ...processCases,
  ...processOutputCases,
  ...fileCases,
  ...directoryCases,
  ...fileNameCases,
  ...bigFileCases,
  ...symlinkCases,
  ...archiveCases,
  ...watchCases,
  ...kernelCases,
  ...kernelOutputCases,
  ...kernelControlCases,
  ...kernelHandleCases,
  ...kernelLanguageCases,
  ...concurrencyCases,
  ...resourceCases,
  ...networkCases,
  ...packageCases,
  ...gitCases,
  ...gitServerCases,
];
