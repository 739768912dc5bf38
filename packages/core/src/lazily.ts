/** A value that is made when it is first asked for. Schemas are: to make all of them takes longer than to load the rest. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
