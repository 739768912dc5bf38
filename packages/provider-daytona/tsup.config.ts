import { defineConfig } from "tsup";
import { inTwoFiles } from "../../tsup.base.js";

export default defineConfig(inTwoFiles);
