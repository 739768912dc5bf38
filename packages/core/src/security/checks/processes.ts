import type { Attack, Check } from "../probe.js";

/** Processes that are not the sandbox's own, and rights that a program in it could grow by. */
export const processesCheck: Check = {
  name: "processes",
  probes: {
    "processes.host": {
      title: "sees and kills no process of this machine",
      severity: "critical",
      fix: 'give it a process namespace of its own (Docker: no PidMode "host")',
    },
    "processes.siblings": {
      title: "sees and kills no process of another sandbox",
      severity: "critical",
      fix: "give each sandbox a process namespace of its own",
    },
    "processes.environment": {
      title: "has no variable of the program that made it",
      severity: "high",
      fix: "start what runs the sandbox with an environment of its own",
    },
    "processes.agent": {
      title: "reads nothing of the program that serves it",
      severity: "high",
      fix: "take an image with Python or Node, whose agents make themselves unreadable, and do without root",
      withinOwnKernel: true,
    },
    "processes.ptrace": {
      title: "steers no program above it by ptrace",
      severity: "high",
      fix: "refuse ptrace by seccomp, and leave out CAP_SYS_PTRACE",
      withinOwnKernel: true,
    },
    "processes.root": {
      title: "is not root of the kernel",
      severity: "high",
      fix: 'run it as a user (Docker: leave out "unsafeRoot")',
      withinOwnKernel: true,
    },
    "processes.capabilities": {
      title: "has no capabilities",
      severity: "high",
      fix: 'drop all (Docker: CapDrop ALL and no CapAdd; leave out "unsafeRoot")',
      withinOwnKernel: true,
    },
    "processes.new-privileges": {
      title: "gains nothing by setuid programs",
      severity: "medium",
      fix: "set no_new_privs (Docker: SecurityOpt no-new-privileges)",
      withinOwnKernel: true,
    },
    "processes.kernel": {
      title: "does not reach dangerous system calls",
      severity: "high",
      fix: "filter system calls (Docker: never SecurityOpt seccomp=unconfined)",
      withinOwnKernel: true,
    },
  },
  async run({ target, bait, sibling }) {
    const env = { ...bait.env(), SANDKIT_SIBLING_MARK: sibling.mark };
    const attacks = await target.attack("processes", Object.keys(this.probes), env);
    // What those that were to be killed say counts for more than what the attacker saw.
    return attacks.map((attack): Attack => {
      if (attack.id === "processes.host" && !bait.lives)
        return { ...attack, outcome: "got", saw: `${attack.saw}; a process of this machine was killed` };
      if (attack.id === "processes.siblings" && !sibling.lives())
        return { ...attack, outcome: "got", saw: `${attack.saw}; a process of another sandbox was killed` };
      return attack;
    });
  },
};
