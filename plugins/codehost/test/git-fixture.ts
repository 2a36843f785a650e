/** A real git server with a repository, and claims about it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection } from '@claimcheck/core'
import type { Test } from 'tap'
import { GitServer } from '../../../test/destinations/git-server.ts'
import { claimOf } from './claim.ts'
import { type ContextOptions, check, createContext, setUp } from './context.ts'

interface LookOptions extends ContextOptions {
  readonly branch?: string
  readonly target?: string
  readonly address?: string
}

/** Its main branch has two commits. */
export async function atGitServer(t: Test, pluginOptions: Parameters<typeof setUp>[0] = {}) {
  const server = await GitServer.start()
  const repository = await server.createRepository('acme/app')
  const first = await repository.commit()
  const base = await repository.commit({ parents: [first] })
  await repository.push('main', base)
  const { verifier } = await setUp(pluginOptions)

  // Of this test's own, so that what is left behind can be seen.
  const folder = await mkdtemp(join(tmpdir(), 'git-test-'))
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  t.teardown(async () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    await server.close()
    await rm(folder, { recursive: true })
  })

  const connect = (options: Record<string, string> = {}): Connection => ({
    id: 'conn_1',
    provider: 'git',
    options: { base_url: server.url, ...options },
  })

  /** @param address where git is told that the server is */
  function look(sha: string, { branch = 'main', target = 'acme/app', address, ...options }: LookOptions = {}) {
    const context = createContext({ connection: connect(), ...options })
    const resolve: typeof context.resolve = async (url) => ({
      ...(await context.resolve(url)),
      ...(address === undefined ? {} : { address }),
    })
    return check(verifier, claimOf({ sha, branch, target }), { ...context, resolve })
  }
  return { server, repository, first, base, connect, look, leftBehind: () => readdir(folder) }
}
