/** Each segment of a path, such as of the name of a branch: hosts expect its slashes unescaped, and no other character may have a meaning. */
export function escaped(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
