/** Runs a git server with very many branches in a process of its own, so that its work delays no test. Sends its address to its parent. */
import { writeBranches } from '../../../test/destinations/git-history.ts'
import { GitServer } from '../../../test/destinations/git-server.ts'

export interface ManyBranches {
  readonly url: string
  /** The tip of all branches but one. */
  readonly tip: string
}

const REFS = 215_000

if (process.send) {
  const server = await GitServer.start()
  process.on('disconnect', () => void server.close().finally(() => process.exit()))
  const repository = await server.createRepository('acme/app')
  const first = await repository.commit()
  const tip = await repository.commit({ parents: [first] })
  await repository.push('main', first)
  await writeBranches(repository.folder, REFS, tip)
  await repository.push('zz-last', first)
  process.send({ url: server.url, tip } satisfies ManyBranches)
}
