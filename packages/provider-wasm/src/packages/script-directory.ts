/** Where the programs of packages lie in every sandbox. */
export const scriptDirectory = "/usr/local/bin";
