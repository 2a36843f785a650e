/** An agent that commits in its own repository, and pushes from there with git. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from './git.ts'
import { type CommitOptions, initBare, writeCommit } from './objects.ts'

export class Agent {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async create(): Promise<Agent> {
    const folder = await mkdtemp(join(tmpdir(), 'agent-'))
    await initBare(folder)
    return new Agent(folder)
  }

  commit(options?: CommitOptions): Promise<string> {
    return writeCommit(this.folder, options)
  }

  /** @param url of the repository; credentials go into it */
  async push(url: string, sha: string, branch: string, { force = false } = {}): Promise<void> {
    await git(this.folder, ['push', '--quiet', url, `${force ? '+' : ''}${sha}:refs/heads/${branch}`])
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}
