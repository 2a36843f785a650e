/** Makes services that are classes by a function, as the container calls them. */
export function construct<P, S>(Service: new (parts: P) => S): (parts: P) => S {
  return (parts) => new Service(parts)
}
