import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { requireRegular } from "./files.mjs";
import { laneNumber } from "./frames.mjs";

const pieceBytes = 64 * 1024;

/** Opens a file; what it gives sends the asked range of it. */
export async function readFileRange({ path, offset, length }, stream) {
  // Without O_NONBLOCK a named pipe would block here until somebody writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    requireRegular(await file.stat(), path);
  } catch (error) {
    await file.close();
    throw error;
  }
  const lane = stream.outgoing.get(laneNumber.out);
  return async () => {
    let left = length ?? Infinity;
    let position = offset;
    let failed = false;
    try {
      while (left > 0 && !lane.cancelled) {
        const piece = Buffer.allocUnsafe(Math.min(pieceBytes, left));
        const { bytesRead } = await file.read(piece, 0, piece.length, position);
        if (bytesRead === 0) break;
        position += bytesRead;
        left -= bytesRead;
        await lane.sendAll(piece.subarray(0, bytesRead));
      }
    } catch (error) {
      // The host learns of it by the total.
      if (typeof error.code !== "string") throw error;
      failed = true;
    } finally {
      lane.end(failed);
      await file.close();
    }
  };
}
