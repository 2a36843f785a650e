/** Writes commands as this person types them: in hints that can be copied, by the name of the program that they started. */
import { basename, relative } from 'node:path'

let program = 'claimcheck-cli'

export function nameProgram(name: string): void {
  program = name
}

/** Writes a command. @param started the path of the program; one that lies outside of the folder was found by its name */
export function typed(command: string, started: string = process.argv[1] ?? '', folder = process.cwd()): string {
  const path = relative(folder, started)
  if (basename(path, '.js') !== program || path.startsWith('..')) return `${program} ${command}`
  if (path.endsWith('.js')) return `node ${path} ${command}`
  return `${path === program ? `./${path}` : path} ${command}`
}
