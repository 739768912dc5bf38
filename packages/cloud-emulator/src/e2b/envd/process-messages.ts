/** The messages of `process.Process` in their JSON form, as far as envd and its clients use them. */
export interface ProcessConfig {
  readonly cmd?: string;
  readonly args?: readonly string[];
  readonly envs?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface PtyMessage {
  readonly size?: { readonly cols?: number; readonly rows?: number };
}

export interface StartRequest {
  readonly process?: ProcessConfig;
  readonly pty?: PtyMessage;
  readonly tag?: string;
  readonly stdin?: boolean;
}

export interface ProcessSelector {
  readonly pid?: number;
  readonly tag?: string;
}

export interface SelectingRequest {
  readonly process?: ProcessSelector;
}

export interface UpdateRequest extends SelectingRequest {
  readonly pty?: PtyMessage;
}

/** Bytes in base64. */
export interface ProcessInput {
  readonly stdin?: string;
  readonly pty?: string;
}

export interface SendInputRequest extends SelectingRequest {
  readonly input?: ProcessInput;
}

export interface SendSignalRequest extends SelectingRequest {
  readonly signal?: string | number;
}

export interface StreamInputRequest {
  readonly start?: SelectingRequest;
  readonly data?: { readonly input?: ProcessInput };
  readonly keepalive?: object;
}

/** One event of a process; `{ start: … }`, `{ data: … }`, `{ end: … }` or `{ keepalive: {} }`. */
export type ProcessEvent =
  | { readonly start: { readonly pid: number } }
  | { readonly data: { readonly stdout: string } | { readonly stderr: string } | { readonly pty: string } }
  | { readonly end: EndEvent }
  | { readonly keepalive: Record<string, never> };

export interface EndEvent {
  readonly exitCode: number;
  readonly exited: boolean;
  readonly status: string;
  readonly error?: string;
}
