import { randomUUID } from "node:crypto";
import type { CreateSnapshot, PaginatedSnapshots, SnapshotDto } from "@daytona/api-client";
import type { CreateOptions } from "@sandkit/core";
import { apiFailure } from "../api-failure.js";
import type { DaytonaOptions } from "../options.js";
import { organizationId } from "./cloud-sandbox.js";
import { fromDockerfile } from "./starting-point.js";

/** A snapshot, and what a sandbox gets from it. */
export interface Snapshot {
  readonly dto: SnapshotDto;
  readonly options: CreateOptions;
  home: Uint8Array | undefined;
}

/** The snapshots of the organisation. */
export class Snapshots {
  readonly #options: DaytonaOptions;
  readonly #byName = new Map<string, Snapshot>();

  constructor(options: DaytonaOptions) {
    this.#options = options;
  }

  find(idOrName: string): Snapshot | undefined {
    return this.#byName.get(idOrName) ?? [...this.#byName.values()].find(({ dto }) => dto.id === idOrName);
  }

  /** @throws ApiFailure 404 */
  get(idOrName: string): Snapshot {
    const found = this.find(idOrName);
    if (!found) throw apiFailure(404, `Snapshot with ID or name ${idOrName} not found`);
    return found;
  }

  /** Enters a snapshot. @throws ApiFailure 409 when the name is taken */
  add(name: string, options: CreateOptions, more: Partial<SnapshotDto>): Snapshot {
    if (!name) throw apiFailure(400, "name should not be empty");
    if (this.#byName.has(name))
      throw apiFailure(409, `Snapshot with name "${name}" already exists for this organization`);
    const now = new Date();
    const dto: SnapshotDto = {
      id: randomUUID(),
      organizationId,
      general: false,
      name,
      state: "active",
      size: null,
      entrypoint: null,
      cpu: 1,
      gpu: 0,
      mem: 1,
      disk: 3,
      errorReason: null,
      createdAt: now,
      updatedAt: now,
      lastUsedAt: null,
      sourceSandboxId: null,
      sandboxClass: this.#options.sandboxClass ?? "container",
      ...more,
    };
    const snapshot: Snapshot = { dto, options, home: undefined };
    this.#byName.set(name, snapshot);
    return snapshot;
  }

  /** `POST /snapshots`: from an image. */
  create(request: CreateSnapshot): SnapshotDto {
    const dockerfile = request.buildInfo?.dockerfileContent ?? `FROM ${request.imageName ?? ""}`;
    const { options, buildFailure } = fromDockerfile(this.#options, dockerfile);
    const { dto } = this.add(request.name, options, {
      imageName: request.imageName,
      entrypoint: request.entrypoint ?? null,
      cpu: request.cpu ?? 1,
      mem: request.memory ?? 1,
      disk: request.disk ?? 3,
      state: buildFailure === undefined ? "active" : "build_failed",
      errorReason: buildFailure ?? null,
    });
    return dto;
  }

  remove(idOrName: string): void {
    this.#byName.delete(this.get(idOrName).dto.name);
  }

  /** Takes a snapshot into use, or out of it. */
  setActive(idOrName: string, active: boolean): SnapshotDto {
    const { dto } = this.get(idOrName);
    dto.state = active ? "active" : "inactive";
    dto.updatedAt = new Date();
    return dto;
  }

  /** `GET /snapshots`: one page, counted from 1. */
  page(query: URLSearchParams): PaginatedSnapshots {
    const [page, limit] = [Number(query.get("page") ?? 1), Number(query.get("limit") ?? 100)];
    const name = query.get("name");
    const source = query.get("sourceSandboxId");
    const fitting = [...this.#byName.values()]
      .map(({ dto }) => dto)
      .filter(
        (dto) => (name === null || dto.name.includes(name)) && (source === null || dto.sourceSandboxId === source),
      );
    const totalPages = Math.ceil(fitting.length / limit);
    return { items: fitting.slice((page - 1) * limit, page * limit), total: fitting.length, page, totalPages };
  }
}
