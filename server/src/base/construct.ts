/** Wraps a class in a function, because the container makes services by calling functions. */
export function construct<P, S>(Service: new (parts: P) => S): (parts: P) => S {
  return (parts) => new Service(parts)
}
