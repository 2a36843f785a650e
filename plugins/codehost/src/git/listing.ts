/**
 * Asks a server for its refs, and whether it has a commit. There can be very many refs: they are kept as bytes and searched piece by piece, so that
 * nothing else has to wait.
 */
import { setImmediate } from 'node:timers/promises'
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { isBranchName } from '../actions/fields.ts'
import { gitEnvironment, type Remote } from './environment.ts'
import type { OwnFolder } from './folders.ts'
import {
  fromServer,
  type Git,
  GitFailure,
  inLines,
  LINE_FEED,
  refusesShallow,
  serverFailure,
  traceRun,
} from './program.ts'

const MAX_REFS = 500_000
const LIMITS = { maxOutputBytes: 64 * 1024 * 1024, maxFileBytes: 1024 * 1024 }
const ID_LENGTH = 40
const REF_LINE = /^[0-9a-f]{40}\t/

export function createLister(git: Git, own: OwnFolder) {
  /** Lists refs as pieces of whole lines. @throws DestinationError `unexpected_response` for too many refs */
  async function list(remote: Remote, context: CheckContext, args: readonly string[]): Promise<readonly Buffer[]> {
    return own.temporary(async (folder) => {
      const pieces: Buffer[] = []
      let refs = 0
      const onOutput = inLines((lines) => {
        refs += countLines(lines)
        if (refs <= MAX_REFS) pieces.push(lines)
      })
      const { signal, share } = context
      const { run, negotiatedVersion } = await traceRun({
        ...{ folder, env: gitEnvironment(folder, remote), signal, share, ...LIMITS, onOutput },
      })
      await fromServer(git(['ls-remote', '--quiet', ...args], run), context)
      if (refs > MAX_REFS || (await negotiatedVersion()) === undefined) {
        throw new DestinationError('unexpected_response')
      }
      return pieces
    })
  }

  return {
    /** Lists all branches. @throws DestinationError where the server cannot be read */
    async branches(remote: Remote, context: CheckContext) {
      const pieces = await list(remote, context, ['--heads', '--', remote.url])
      // Commits whose ids are of another kind would never be found.
      if (pieces[0] && !REF_LINE.test(pieces[0].toString('latin1', 0, 41))) {
        throw new DestinationError('unexpected_response')
      }
      return {
        /** Finds the name of a branch with this commit as its tip. */
        async nameAt(tip: string): Promise<string | undefined> {
          for (const lines of pieces) {
            const name = nameIn(lines, tip)
            if (name !== undefined) return name
            await setImmediate()
          }
          return undefined
        },
      }
    },

    /** Reads the name of the default branch; `undefined` when the server does not say. @throws DestinationError where the server cannot be read */
    async defaultBranch(remote: Remote, context: CheckContext): Promise<string | undefined> {
      const pieces = await list(remote, context, ['--symref', '--', remote.url, 'HEAD'])
      for (const lines of pieces) {
        // The output is read one character a byte, because names are decoded strictly.
        const name = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(lines.toString('latin1'))?.[1]
        if (name !== undefined) return readName(Buffer.from(name, 'latin1'))
        await setImmediate()
      }
      return undefined
    },

    /** Reads what a ref leads to; undefined where the server lists none. @throws DestinationError where the server cannot be read */
    async target(remote: Remote, ref: string, context: CheckContext): Promise<string | undefined> {
      // The server is asked for every ref whose name ends in this one.
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

    /**
     * Tells whether the server has this commit, on whatever branch or none; `undefined` if it does not tell.
     * @throws DestinationError where the server cannot be read
     */
    hasObject: (remote: Remote, sha: string, context: CheckContext) =>
      own.temporary((folder) => askForObject(git, folder, remote, sha, context)),
  }
}

/** Failures by which the server does not give a commit out. Anything else is a failure to read. */
const REFUSED = /remote error: |does not allow request|index-pack/

async function askForObject(
  git: Git,
  folder: string,
  remote: Remote,
  sha: string,
  context: CheckContext,
): Promise<boolean | undefined> {
  const { signal, share } = context
  const env = gitEnvironment(folder)
  const { run, negotiatedVersion } = await traceRun({
    ...{ folder, env: gitEnvironment(folder, remote), signal, share, ...LIMITS },
  })
  await git(['init', '--quiet', '--bare', '--template=', '.'], { ...run, env })
  const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--depth=1', '--filter=tree:0']
  try {
    await git(['fetch', ...options, '--', remote.url, sha], run)
    return true
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    // A server that gives out more than may be stored, or unpacked, has the commit.
    if (error.isOverLimit) return true
    if (refusesShallow(error)) return undefined
    if (!REFUSED.test(error.stderr)) throw serverFailure(error, context)
    // Only over protocol v2 "not our ref" means that the server does not have it: older servers say the same of a commit that no branch has.
    const isUnknown = error.stderr.includes(`remote error: upload-pack: not our ref ${sha}`)
    return isUnknown && (await negotiatedVersion()) === '2' ? false : undefined
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

/** Decodes a name of a branch. One that is not UTF-8 must not become another name that is: it cannot be claimed. */
function readName(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
