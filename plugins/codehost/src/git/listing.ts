/** Lists a server's refs. There can be very many: they are kept as bytes and searched piece by piece, so that nothing else has to wait. */
import { setImmediate } from 'node:timers/promises'
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { isBranchName } from '../actions/fields.ts'
import { gitEnvironment, type Remote } from './environment.ts'
import { fromServer } from './failure.ts'
import { inLines, LINE_FEED } from './lines.ts'
import type { OwnFolder } from './own-folder.ts'
import type { Git } from './program.ts'
import { traced } from './trace.ts'

export interface Branches {
  /** The name of a branch with this commit as its tip. */
  nameAt(tip: string): Promise<string | undefined>
}

const MAX_REFS = 500_000
export const LISTING = { maxOutputBytes: 64 * 1024 * 1024, maxFileBytes: 1024 * 1024 }
const ID_LENGTH = 40
const REF_LINE = /^[0-9a-f]{40}\t/

export type Lister = ReturnType<typeof createLister>

export function createLister(git: Git, own: OwnFolder) {
  /** @throws DestinationError `unexpected_response` for too many refs */
  async function list(remote: Remote, context: CheckContext, args: readonly string[]): Promise<readonly Buffer[]> {
    return own.temporary(async (folder) => {
      const pieces: Buffer[] = []
      let refs = 0
      const onOutput = inLines((lines) => {
        refs += countLines(lines)
        if (refs <= MAX_REFS) pieces.push(lines)
      })
      const { signal, share } = context
      const { run, negotiatedVersion } = await traced({
        ...{ folder, env: gitEnvironment(folder, remote), signal, share, ...LISTING, onOutput },
      })
      await fromServer(git(['ls-remote', '--quiet', ...args], run), context)
      if (refs > MAX_REFS || (await negotiatedVersion()) === undefined) {
        throw new DestinationError('unexpected_response')
      }
      return pieces
    })
  }

  return {
    /** All branches. @throws DestinationError */
    async branches(remote: Remote, context: CheckContext): Promise<Branches> {
      const pieces = await list(remote, context, ['--heads', '--', remote.url])
      // With ids of another kind no commit would ever be found.
      if (pieces[0] && !REF_LINE.test(pieces[0].toString('latin1', 0, 41))) {
        throw new DestinationError('unexpected_response')
      }
      return {
        async nameAt(tip) {
          for (const lines of pieces) {
            const name = nameIn(lines, tip)
            if (name !== undefined) return name
            await setImmediate()
          }
          return undefined
        },
      }
    },

    /** The name of the default branch; `undefined` when the server does not say. @throws DestinationError */
    async defaultBranch(remote: Remote, context: CheckContext): Promise<string | undefined> {
      const pieces = await list(remote, context, ['--symref', '--', remote.url, 'HEAD'])
      for (const lines of pieces) {
        // One character a byte: names are decoded strictly.
        const name = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(lines.toString('latin1'))?.[1]
        if (name !== undefined) return readName(Buffer.from(name, 'latin1'))
        await setImmediate()
      }
      return undefined
    },

    /** What a ref leads to; undefined where the server lists none. @throws DestinationError */
    async target(remote: Remote, ref: string, context: CheckContext): Promise<string | undefined> {
      // git lists every ref whose name ends so.
      const pieces = await list(remote, context, ['--', remote.url, ref])
      const end = `\t${ref}\n`
      for (const lines of pieces) {
        for (let at = lines.indexOf(end); at !== -1; at = lines.indexOf(end, at + 1)) {
          const line = lines.toString('latin1', lines.lastIndexOf(LINE_FEED, at) + 1, at + 1)
          if (REF_LINE.test(line)) return line.slice(0, ID_LENGTH)
        }
        await setImmediate()
      }
      return undefined
    },
  }
}

function countLines(lines: Buffer): number {
  let count = 0
  for (const byte of lines) if (byte === LINE_FEED) count++
  return count
}

function nameIn(lines: Buffer, tip: string): string | undefined {
  const beginning = `${tip}\trefs/heads/`
  for (let at = lines.indexOf(beginning); at !== -1; at = lines.indexOf(beginning, at + 1)) {
    if (at > 0 && lines[at - 1] !== LINE_FEED) continue
    const nameAt = at + beginning.length
    const name = readName(lines.subarray(nameAt, lines.indexOf(LINE_FEED, nameAt)))
    if (name !== undefined && isBranchName(name)) return name
  }
  return undefined
}

/** A name that is not UTF-8 must not become another name that is: it cannot be claimed. */
function readName(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
