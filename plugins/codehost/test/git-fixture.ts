/** A real git server with a repository, and checks of claims about it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection, JsonObject } from '@claimcheck/core/plugin'
import type { Test } from 'tap'
import { GitServer } from '../../../test/destinations/git-server.ts'
import { claimOf } from './claim.ts'
import { type ContextOptions, check, createContext, setUp } from './context.ts'

interface LookOptions extends ContextOptions {
  readonly branch?: string
  readonly target?: string
  readonly address?: string
  readonly claimedAt?: number
}

/** Until the test ends, temporary files are in a folder for it alone: it sees what is left behind, and nothing of other processes. */
export async function temporaryFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'git-test-'))
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  t.teardown(async () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    await rm(folder, { recursive: true })
  })
  return folder
}

/** A git server with a repository whose main branch has two commits, `first` and `base`. */
export async function atGitServer(t: Test, pluginOptions: Parameters<typeof setUp>[0] = {}) {
  const server = await GitServer.start()
  const repository = await server.createRepository('acme/app')
  const first = await repository.commit()
  const base = await repository.commit({ parents: [first] })
  await repository.push('main', base)
  const { verifier, close } = await setUp(pluginOptions)

  const folder = await temporaryFolder(t)
  t.teardown(async () => {
    await close()
    await server.close()
  })

  const connect = (options: JsonObject = {}): Connection => ({
    id: 'conn_1',
    provider: 'git',
    options: { base_url: server.url, ...options },
  })

  /** Checks a claim about the commit. @param address the server's address as git gets it */
  function look(
    sha: string,
    { branch = 'main', target = 'acme/app', address, claimedAt = Date.now(), ...options }: LookOptions = {},
  ) {
    const context = createContext({ connection: connect(), ...options })
    const resolve: typeof context.resolve = async (url) => ({
      ...(await context.resolve(url)),
      ...(address === undefined ? {} : { address }),
    })
    return check(verifier, claimOf({ sha, branch, target, claimedAt }), { ...context, resolve })
  }
  /** What the plugin leaves behind when it ends. */
  async function leftBehind(): Promise<string[]> {
    await close()
    return readdir(folder)
  }
  return { server, repository, first, base, connect, look, close, folder, leftBehind }
}
