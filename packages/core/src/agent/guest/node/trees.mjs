import { randomBytes } from "node:crypto";
import { lastPid, processTable, startOf, variableOf } from "./process-table.mjs";

/** In the environment of programs: a name for the tree that a process grew in. */
export const tokenName = "SANDKIT_EXEC";
const pollMs = 50;
const killPollMs = 5;
const maxRounds = 32;
/** Looks in a row that must find nobody after a kill. */
const cleanLooks = 3;
/** As many where something was started meanwhile: they may have missed a process that forks and ends all the time. */
const cleanLooksBesideForks = 20;

/** The processes that grew from one spawn. */
class Tree {
  token = randomBytes(16).toString("hex");
  leader = 0;
  start = 0;
  leaderEnded = false;
  killing = false;
  /** Looks in a row that found nobody, and those of them since which nothing was started. */
  clean = 0;
  quiet = 0;
  /** Start times of the processes seen to belong here, by pid. */
  known = new Map();
  onGone = () => undefined;

  constructor(onGone) {
    this.onGone = onGone;
  }
}

/**
 * Finds what grew from each spawn by its traces: descent, sessions, a token in the environment, and, where the box
 * holds nothing else, that an orphan can come from nobody else.
 */
export class Trees {
  #living = new Set();
  #sole;
  #helpers;
  #timer = null;
  #newest = null;

  /** @param sole Whether every process of this pid namespace comes from this agent. */
  constructor(sole, helpers) {
    this.#sole = sole;
    this.#helpers = helpers;
  }

  plant(onGone) {
    return new Tree(onGone);
  }

  /** Takes in a tree, whose leader has just been started. */
  grow(tree, leader) {
    tree.leader = leader;
    tree.start = startOf(leader) ?? Infinity;
    if (tree.start !== Infinity) tree.known.set(leader, tree.start);
    this.#living.add(tree);
  }

  leaderEnded(tree) {
    tree.leaderEnded = true;
    this.#check();
  }

  /**
   * Sends a signal to each process of a tree once, also to those that appear meanwhile. Parents come first, so that none
   * of them sees its children stop; so to go on they come last.
   */
  signal(tree, signal) {
    if (!this.#living.has(tree)) return;
    if (signal !== "SIGKILL") return this.#send(tree, signal);
    tree.killing = true;
    this.#kill(tree);
    this.#watch();
  }

  /** Resolves when no process of any tree is left, or after `limitMs`. */
  async endAll(limitMs) {
    const until = Date.now() + limitMs;
    for (const tree of this.#living) this.signal(tree, "SIGKILL");
    while (this.#living.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, killPollMs));
  }

  /** Stops all first, so that none can fork while the others die. */
  #kill(tree) {
    this.#send(tree, "SIGSTOP");
    this.#send(tree, "SIGKILL");
  }

  #send(tree, signal) {
    const done = new Set();
    for (let round = 0; round < maxRounds; round++) {
      const fresh =
        this.#members()
          .get(tree)
          ?.filter((pid) => !done.has(pid)) ?? [];
      if (fresh.length === 0) return;
      fresh.sort((a, b) => tree.known.get(a) - tree.known.get(b) || a - b);
      if (signal === "SIGCONT") fresh.reverse();
      for (const pid of fresh) {
        done.add(pid);
        sendSignal(pid, signal);
      }
    }
  }

  #check() {
    const members = this.#members();
    const newest = lastPid();
    const forked = newest === null || newest !== this.#newest;
    this.#newest = newest;
    for (const tree of [...this.#living]) {
      if (!tree.leaderEnded) continue;
      if (members.get(tree).length > 0) {
        tree.clean = tree.quiet = 0;
        if (tree.killing) this.#kill(tree);
        continue;
      }
      tree.clean += 1;
      tree.quiet = forked ? 0 : tree.quiet + 1;
      if (tree.killing && tree.quiet < cleanLooks && tree.clean < cleanLooksBesideForks) continue;
      this.#living.delete(tree);
      tree.onGone();
    }
    this.#watch();
  }

  /** Looks again while there are remnants, and soon while they are being killed. */
  #watch() {
    if (this.#timer) return;
    const waiting = [...this.#living].filter((tree) => tree.leaderEnded || tree.killing);
    if (waiting.length === 0) return;
    const delay = waiting.some((tree) => tree.killing) ? killPollMs : pollMs;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#check();
    }, delay);
  }

  /** The living processes of each living tree. */
  #members() {
    const table = processTable();
    const owners = new Map();
    const earliest = Math.min(...Array.from(this.#living, (tree) => tree.start));
    for (const one of table.values()) {
      if (one.pid === process.pid || this.#helpers.has(one.pid) || one.start < earliest) continue;
      const tree = this.#byTrace(one);
      if (tree) owners.set(one.pid, tree);
    }
    for (const one of table.values()) if (one.start >= earliest) this.#byDescent(one, table, owners);
    const members = new Map(Array.from(this.#living, (tree) => [tree, []]));
    for (const [pid, tree] of owners) {
      tree.known.set(pid, table.get(pid).start);
      if (!table.get(pid).dead) members.get(tree).push(pid);
    }
    return members;
  }

  #byTrace(one) {
    for (const tree of this.#living) if (tree.known.get(one.pid) === one.start) return tree;
    for (const tree of this.#living) if (tree.leader === one.session && one.start >= tree.start) return tree;
    if (one.dead) return undefined;
    const token = variableOf(one.pid, tokenName);
    if (token !== null) for (const tree of this.#living) if (tree.token === token) return tree;
    return undefined;
  }

  #byDescent(one, table, owners) {
    const path = [];
    let owner;
    for (let at = one; at !== undefined && !path.includes(at); at = table.get(at.parent)) {
      owner = owners.get(at.pid) ?? owners.get(at.session);
      if (owner || at.pid === 1 || at.pid === process.pid || this.#helpers.has(at.pid)) break;
      path.push(at);
    }
    const orphan = path.at(-1);
    if (!owner && this.#sole && orphan?.parent === 1) owner = this.#onlyOneSince(orphan.start);
    if (owner) for (const each of path) owners.set(each.pid, owner);
  }

  /** The tree that an orphan without other traces must come from. */
  #onlyOneSince(start) {
    const candidates = [...this.#living].filter((tree) => tree.start <= start);
    return candidates.length === 1 ? candidates[0] : undefined;
  }
}

/** Nobody to be found is what a signal is for; one of another user shows in a tree that does not end. */
export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH" && error.code !== "EPERM") throw error;
  }
}
