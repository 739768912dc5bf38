import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];
type Change = readonly [what: string, find: string | RegExp, replacement: string];

/** Where what the changes call is written, by the name that they call it. */
const hooks = fileURLToPath(new URL("src/guest/shell/hooks.ts", import.meta.url));
const imports = `import * as sandkit from ${JSON.stringify(hooks)};`;

/** What is changed in just-bash, of exactly the version that package.json names. Each must be found once. */
const changes: readonly Change[] = [
  // Its own file system never refuses a write: there a redirection to a file that cannot be written ends the whole
  // script by an exception. It is to fail its command, as in Bash.
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
  // It takes every executable file for a script of its own, whatever its first line says.
  [
    "finding a command by its name",
    /else if\((\w+)\.commands\.has\((\w+)\)\)(\{let \w+=\(\1\.state\.env\.get\("PATH"\)\?\?"\/usr\/bin:\/bin"\)\.split\(":"\),\w+=null;)/g,
    "else if($1.commands.has($2)||$1.fs.isProgram($2))$3",
  ],
  [
    "finding what runs a file",
    /async function (\w+)\((\w+),(\w+),(\w+),(\w+),(\w+)\)\{let\{ctx:(\w+),buildExportedEnv:(\w+),executeUserScript:(\w+)\}=\2,(\w+)=await (\w+)\(\7,\3,\6\?"\/usr\/bin:\/bin":void 0\);/g,
    "$&if($10&&$10.script){let own=await $7.fs.scriptCommand($3,$10.path);if(own){if(own.refused)return own.refused;$10={cmd:$7.commands.get(own.name),path:$10.path};$4=[...own.args,...$4]}}",
  ],
  [
    "what rm looks at: a link, not what it leads to",
    /if\(\(await (\w+)\.fs\.stat\((\w+)\)\)\.isDirectory&&!(\w+)\)\{(\w+)\+=`rm: cannot remove/g,
    "if((await $1.fs.lstat($2)).isDirectory&&!$3){$4+=`rm: cannot remove",
  ],
  [
    "the options of grep",
    'else if(pe==="h"||pe==="--no-filename")m=!0;',
    'else if(pe==="h"||pe==="--no-filename")m=!0;else if(pe==="H"||pe==="--with-filename")m=null;else if(pe==="I")R.skipsBinary=!0;',
  ],
  ["the file names that grep shows", "ge=(ee.length>1||l&&Ie)&&!m", "ge=m===null||(ee.length>1||l&&Ie)&&!m"],
  [
    "the files that grep reads",
    "return l?null:{error:`grep: ${Ke}: Is a directory\n`};pe=await t.fs.readFile(Xn)}",
    'return l?null:{error:`grep: ${Ke}: Is a directory\n`};if(pe=await t.fs.readFile(Xn),R.skipsBinary&&pe.includes("\0"))return null}',
  ],
  [
    "what a pattern stands for",
    "async expand(t){if(this.globstar){",
    "async expand(t){return this.filterGlobignore(await sandkit.expandGlob(this,t));if(this.globstar){",
  ],
  [
    "what a backslash stands for in tr",
    'if(e[i]==="\\\\"&&i+1<e.length){let l=e[i+1];o(l==="n"',
    'if(e[i]==="\\\\"&&i+1<e.length){let own=sandkit.escapeAt(e,i);o(own.text),i+=own.length;continue;let l=e[i+1];o(l==="n"',
  ],
  // It cuts `{1..20000}` to 10,000 words without a word, and counts the words of a whole script.
  [
    "too many words of braces",
    "function Ll(e,t,n,r){if(e.length>=n.maxResults)return!1;",
    'function Ll(e,t,n,r){if(e.length>=n.maxResults)throw new C(`bash: braces of more than ${n.maxResults} words: use seq or a loop`,"array_elements");',
  ],
  ["the longest sequence in braces", "var Uo=1e4,md=", "var Uo=1/0,md="],
  ["counting them", "Math.min(Hw,e.limits.maxBraceExpansionResults),", "Number.MAX_SAFE_INTEGER,"],
  // It gives all output of a script at the end. What nothing in the script collects is to come out as it is made.
  [
    "the state of a script",
    "let m={...this.state,env:h,",
    "let m={...this.state,routes:u.routes,exitTrap:void 0,...sandkit.exportedIn(this.state,u,s),env:h,",
  ],
  ["a pipeline", "R=await n(y,s)}catch", "R=await sandkit.inPipeline(e.state,x,t.pipeStderr?.[w],()=>n(y,s))}catch"],
  [
    "the end of a pipeline",
    "let f=await this.executePipeline(c);",
    "let f=sandkit.letOut(this.ctx.state,await this.executePipeline(c));",
  ],
  [
    "the lines that set -v shows",
    '&&t.sourceText&&n.append("stderr",`${t.sourceText}\n`)',
    '&&t.sourceText&&n.append("stderr",sandkit.letOut(this.ctx.state,{stdout:"",stderr:`${t.sourceText}\n`}).stderr)',
  ],
  [
    "a command with redirections",
    "i=await this.executeCommandInner(t,n,r)}catch",
    "i=await sandkit.redirected(this.ctx.state,t,()=>this.executeCommandInner(t,n,r))}catch",
  ],
  [
    "a function with redirections",
    "m=await e.executeCommand(t.body,p,h);",
    "m=await sandkit.redirected(e.state,{redirections:t.redirections},()=>e.executeCommand(t.body,p,h));",
  ],
  [
    "a script within a script",
    "executeScript:this.executeScript.bind(this),",
    "executeScript:a=>sandkit.collected(this,a),executeHere:a=>this.executeScript(a),",
  ],
  ["eval", "return await e.executeScript(l)}catch", "return await e.executeHere(l)}catch"],
  ["source", "u=await e.executeScript(c);return l(),u", "u=await e.executeHere(c);return l(),u"],
  [
    "what a command is told",
    "let m={fs:i.fs,fsIdentity",
    'let m={shell:{state:i.state,exec:(S,E)=>i.execFn(S,E,!1),execWithInput:(S,E)=>i.execFn(S,{...E,stdin:d,stdinKind:"bytes"},!0)},fs:i.fs,fsIdentity',
  ],
  // `trap … EXIT`, which it does not have.
  ["running a script", "R=await new Yo(E,m).executeScript(x);", "R=await sandkit.withTrap(new Yo(E,m),x);"],
  ["running a file", "u=await s(c);return a(),u}catch", "u=await sandkit.withOwnTrap(e,()=>s(c));return a(),u}catch"],
  [
    "a subshell",
    "l=>kO(e,t,l.stdin??n,r,s||l.stdin!==void 0)",
    "l=>sandkit.withOwnTrap(e,()=>kO(e,t,l.stdin??n,r,s||l.stdin!==void 0))",
  ],
  // A command that `timeout` ends keeps what it has written, and `timeout` says what there is to say.
  [
    "what ends a group",
    "function sa(e){return e instanceof Qt||e instanceof Xt||e instanceof _t}",
    "function sa(e){return e instanceof Qt||e instanceof Xt||e instanceof _t||e instanceof He}",
  ],
  [
    "what ends a loop",
    "if(e instanceof _t||e instanceof Yt||e instanceof he||e instanceof C)return e.prependOutput(t,n)",
    "if(e instanceof _t||e instanceof Yt||e instanceof he||e instanceof C||e instanceof He)return e.prependOutput(t,n)",
  ],
  [
    "what ends a subshell",
    "catch(a){if(a instanceof C)throw i.prependTo(a),a;return a instanceof hr",
    "catch(a){if(a instanceof C||a instanceof He)throw i.prependTo(a),a;return a instanceof hr",
  ],
  ["the end of a cancelled command", 'new He("",`bash: execution aborted\n`)', 'new He("","")'],
  ["waiting for a cancelled command", "let m=await Promise.race([d.then(()=>!0),", "let m=await Promise.race([d,"],
  [
    "what it gave",
    "throw m||s.poisonAfterAbort(g),g}finally",
    'if(m&&m.kind==="result")return m.result;throw m||s.poisonAfterAbort(g),g}finally',
  ],
  [
    "a cancelled script",
    "throw i instanceof _t&&i.prependOutput(r.stdout,r.stderr),i}",
    "throw(i instanceof _t||i instanceof He)&&i.prependOutput(r.stdout,r.stderr),i}",
  ],
];

export const patchJustBash: Plugin = {
  name: "patch-just-bash",
  setup(build) {
    build.onLoad({ filter: /just-bash[\\/]dist[\\/]bundle[\\/]browser\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      for (const [what, find, replacement] of changes) {
        const count = typeof find === "string" ? contents.split(find).length - 1 : [...contents.matchAll(find)].length;
        if (count !== 1) throw new Error(`just-bash has changed: ${what} is there ${count} times, not once`);
        contents =
          typeof find === "string" ? contents.split(find).join(replacement) : contents.replace(find, replacement);
      }
      return { contents: `${imports}\n${contents}`, loader: "js", resolveDir: dirname(path) };
    });
  },
};
