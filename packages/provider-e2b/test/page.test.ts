import * as z from "zod";
import { optionsOnPage } from "../../cloud-emulator/test/options-on-page.js";
import { optionsSchema } from "../src/index.js";

optionsOnPage("e2b", z.toJSONSchema(optionsSchema, { io: "input" }));
