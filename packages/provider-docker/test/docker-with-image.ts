import type { CreateOptions, Provider } from "@sandkit/core";
import { type DockerNative, docker } from "../src/index.js";

/** The provider, with another default: an image instead of the template `python`. */
export function dockerWithImage(image: string): Provider<DockerNative> {
  const inner = docker();
  const withImage = (options: CreateOptions<DockerNative>) =>
    options.template === undefined && options.image === undefined ? { ...options, image } : options;
  return {
    ...inner,
    validate: (options) => inner.validate(withImage(options)),
    create: (options) => inner.create(withImage(options)),
  };
}
