/** Normalizes the name of a project by PEP 503: `My.Pkg`, `my_pkg` and `my-pkg` are one. */
export function normalizeProject(name: string): string {
  return name.replace(/[-_.]+/g, '-').toLowerCase()
}
