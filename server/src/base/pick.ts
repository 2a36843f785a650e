/** Leaves out of an object the optional members that are undefined. Unfit for the container's services: the spread would make each of them. */
export function defined<T extends object>(members: T): { readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}
