import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeOnEngine, testImages } from "./engine.js";
import { runInContainer } from "./run-in-container.js";

const guest = (name: string) => readFileSync(new URL(`guest/${name}`, import.meta.url), "utf8");

describeOnEngine("the filter of system calls", () => {
  it("refuses what leads out of the container or to parts of the kernel that few programs need", async () => {
    const report = JSON.parse(await runInContainer(testImages.python, ["python3", "-"], guest("system_calls.py")));
    const refused = "EPERM";
    expect(report).toEqual({
      add_key: refused,
      bpf: refused,
      chroot: refused,
      clone3: "ENOSYS",
      finit_module: refused,
      fsopen: refused,
      io_uring_setup: "ENOSYS",
      kcmp: refused,
      kexec_load: refused,
      keyctl: refused,
      mount: refused,
      open_by_handle_at: refused,
      open_tree: refused,
      perf_event_open: refused,
      pidfd_getfd: refused,
      pivot_root: refused,
      process_vm_readv: refused,
      process_vm_writev: refused,
      ptrace: refused,
      setns: refused,
      swapon: refused,
      umount2: refused,
      unshare: refused,
      userfaultfd: refused,
      "clone with a namespace": refused,
      "personality ADDR_NO_RANDOMIZE": refused,
      "personality query": "ok",
      "socket AF_UNIX": "ok",
      "socket AF_INET": "ok",
      "socket AF_INET6": "ok",
      "socket AF_NETLINK": "ok",
      "socket AF_VSOCK": refused,
      "socket AF_ALG": refused,
      "socket AF_PACKET": refused,
      "socket AF_VSOCK in the lower half": refused,
      getpid: "ok",
      "call of 32 bits": "SIGSYS",
    });
  });

  it("lets Python work: threads, pools, epoll, inotify, memfd, pidfd, sockets", async () => {
    const run = ["sh", "-c", "cat >/tmp/program.py && exec python3 /tmp/program.py"];
    expect(await runInContainer(testImages.python, run, guest("ordinary_python.py"))).toBe("fine\n");
  });

  it("lets Node work: workers, children, watchers, sockets", async () => {
    const run = ["sh", "-c", "cat >/tmp/program.mjs && exec node /tmp/program.mjs"];
    expect(await runInContainer(testImages.node, run, guest("ordinary_node.mjs"))).toBe("fine\n");
  });
});
