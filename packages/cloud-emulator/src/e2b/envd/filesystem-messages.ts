/** The messages of `filesystem.Filesystem` in their JSON form, as far as envd and its clients use them. */
export interface PathRequest {
  readonly path?: string;
}

export interface MoveRequest {
  readonly source?: string;
  readonly destination?: string;
}

export interface ListDirRequest extends PathRequest {
  readonly depth?: number;
}

export interface WatchRequest extends PathRequest {
  readonly recursive?: boolean;
  readonly includeEntry?: boolean;
  readonly allowNetworkMounts?: boolean;
}

export interface WatcherRequest {
  readonly watcherId?: string;
}

/** What is at a path. */
export interface EntryInfo {
  readonly name: string;
  readonly type: "FILE_TYPE_FILE" | "FILE_TYPE_DIRECTORY" | "FILE_TYPE_SYMLINK" | "FILE_TYPE_UNSPECIFIED";
  readonly path: string;
  /** Bytes, in decimal: a 64-bit number. */
  readonly size: string;
  readonly mode: number;
  /** As `-rwxr-xr-x`. */
  readonly permissions: string;
  readonly owner: string;
  readonly group: string;
  /** RFC 3339. */
  readonly modifiedTime: string;
  readonly symlinkTarget?: string;
}
