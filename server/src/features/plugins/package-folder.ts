/** Keeps the packages of a folder as they are, and puts them back: npm alone could not do that without its registry, or after it was interrupted. */
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { CommandError } from '@claimcheck/command-line/errors'

const LISTS = ['package.json', 'package-lock.json', 'npm-shrinkwrap.json']
const PACKAGES = 'node_modules'
const PROGRAMS = `${PACKAGES}/.bin`

export interface KeptPackages {
  /**
   * Puts back the links to programs alone. The attack: a package says that it has a program `claimcheck`, and npm, which makes no link to that one here,
   * removes the one that is there when the package goes.
   */
  restorePrograms(): void
  /** Puts all packages back as they were. */
  restore(): void
  /** Ends the keeping; what is there now stays. */
  forget(): void
}

/**
 * Keeps the packages of a folder in links beside them, which take no room.
 * @throws CommandError
 */
export function keepPackages(folder: string): KeptPackages {
  const kept = newFolder(folder)
  const forget = () => rmSync(kept, { recursive: true, force: true })
  try {
    for (const list of LISTS) if (existsSync(join(folder, list))) copyFileSync(join(folder, list), join(kept, list))
    if (existsSync(join(folder, PACKAGES))) linkAll(join(folder, PACKAGES), join(kept, PACKAGES))
  } catch (error) {
    forget()
    throw notWritable(error)
  }
  return {
    restorePrograms() {
      const [own, programs] = [folder, kept].map((parent) => join(parent, PROGRAMS)) as [string, string]
      rmSync(own, { recursive: true, force: true })
      if (existsSync(programs)) linkAll(programs, own)
    },
    restore() {
      try {
        replaceBy(kept, folder)
      } catch (error) {
        const problem = (error as Error).message
        const message = `The packages of ${folder} could not be put back: ${problem}\n  As they were, they are in ${kept}: move its files and node_modules to ${folder}.`
        throw new CommandError('not_configured', message)
      }
      forget()
    },
    forget,
  }
}

function newFolder(folder: string): string {
  try {
    return mkdtempSync(join(folder, '.claimcheck-packages-'))
  } catch (error) {
    throw notWritable(error)
  }
}

function notWritable(error: unknown): CommandError {
  const message = `The folder of the configuration file cannot be written: ${(error as Error).message}\n  Run this command as the user who owns it, and with room on its disk.`
  return new CommandError('not_configured', message)
}

function replaceBy(kept: string, folder: string): void {
  const discarded = join(kept, 'discarded')
  if (existsSync(join(folder, PACKAGES))) renameSync(join(folder, PACKAGES), discarded)
  if (existsSync(join(kept, PACKAGES))) renameSync(join(kept, PACKAGES), join(folder, PACKAGES))
  for (const list of LISTS) {
    // A file that is there keeps its mode and owner.
    if (existsSync(join(kept, list))) copyFileSync(join(kept, list), join(folder, list))
    else rmSync(join(folder, list), { force: true })
  }
}

/** Copies a folder with links to its files. npm writes its own lists of what is installed, which begin with a dot, in place. */
function linkAll(from: string, to: string): void {
  mkdirSync(to, { mode: lstatSync(from).mode })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkAll(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (entry.name.startsWith('.') || !isLinked(source, target)) copyFileSync(source, target)
  }
}

/** Links a file; false where the file system makes no links, or none to files of others. */
function isLinked(source: string, target: string): boolean {
  try {
    linkSync(source, target)
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['EPERM', 'EMLINK', 'ENOTSUP', 'EXDEV', 'ENOSYS'].includes(code)) return false
    throw error
  }
}
