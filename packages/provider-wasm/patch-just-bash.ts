import { readFile } from "node:fs/promises";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/**
 * What is changed in just-bash; each must be found once. Its own file system never refuses a write: there a redirection
 * to a file that cannot be written ends the whole script by an exception. It is to fail its command, as in Bash. And it
 * takes every executable file for a script of its own, whatever its first line says.
 */
const changes: readonly (readonly [what: string, pattern: RegExp, replacement: string])[] = [
  [
    "opening the target of a redirection",
    /catch\((\w+)\)\{if\(!\w+\)throw \1;return\{error:(\w+)\("",`bash: \$\{(\w+)\}: cannot open redirect target\n`,1\)\}\}/g,
    'catch($1){return{error:$2("",`bash: ${$3}: ${$1.reason??"cannot open redirect target"}\\n`,1)}}',
  ],
  [
    "writing to it",
    /let (\w+)=async\((\w+),(\w+),(\w+)\)=>\{\2\.append\?await (\w+)\.fs\.appendFile\(\2\.path,\3,\4\):await \5\.fs\.writeFile\(\2\.path,\3,\4\)\}/g,
    "let $1=async($2,$3,$4)=>{try{$2.append?await $5.fs.appendFile($2.path,$3,$4):await $5.fs.writeFile($2.path,$3,$4)}catch(refused){if(!refused.reason)throw refused;c+=`bash: write error: ${refused.reason}\\n`,u=1}}",
  ],
  [
    "finding a command by its name",
    /else if\((\w+)\.commands\.has\((\w+)\)\)(\{let \w+=\(\1\.state\.env\.get\("PATH"\)\?\?"\/usr\/bin:\/bin"\)\.split\(":"\),\w+=null;)/g,
    "else if($1.commands.has($2)||$1.fs.isProgram($2))$3",
  ],
  [
    "running a file",
    /async function (\w+)\((\w+),(\w+),(\w+),(\w+),(\w+)\)\{let\{ctx:(\w+),buildExportedEnv:(\w+),executeUserScript:(\w+)\}=\2,(\w+)=await (\w+)\(\7,\3,\6\?"\/usr\/bin:\/bin":void 0\);/g,
    "$&if($10&&$10.script){let own=await $7.fs.scriptCommand($3,$10.path,$7.state);if(own){if(own.refused)return own.refused;$10={cmd:$7.commands.get(own.name),path:$10.path};$4=[...own.args,...$4]}}",
  ],
];

export const patchJustBash: Plugin = {
  name: "patch-just-bash",
  setup(build) {
    build.onLoad({ filter: /just-bash[\\/]dist[\\/]bundle[\\/]browser\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      for (const [what, pattern, replacement] of changes) {
        if ([...contents.matchAll(pattern)].length !== 1) {
          throw new Error(`just-bash has changed: ${what} is not as patch-just-bash.ts expects it`);
        }
        contents = contents.replace(pattern, replacement);
      }
      return { contents, loader: "js" };
    });
  },
};
