/** Programs of the machine that tests use where they are installed. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Also where a plain user does not look for programs. Undefined where the machine has none. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
