/** The plugin codehost: checks what agents do at code hosts. A new kind of host is one more provider in the list below. */
import { definePlugin, Type } from '@claimcheck/core/plugin'
import { closedObject } from './actions/fields.ts'
import { verifiersOf } from './actions/index.ts'
import { bitbucket } from './bitbucket/provider.ts'
import { bitbucketServer } from './bitbucket-server/provider.ts'
import { baseUrl, withoutTrailingSlash } from './connection-options.ts'
import { requireGit } from './git/program.ts'
import { createGitProvider } from './git/provider.ts'
import { createRepositories } from './git/repositories.ts'
import { createGiteaProvider } from './gitea/provider.ts'
import { github, githubNames, PUBLIC_API } from './github/provider.ts'
import { GRAPHQL_PATHS, TIMELINE_QUERIES } from './github/timeline.ts'
import { gitlab } from './gitlab/provider.ts'

const MIB = 1024 * 1024

const CodehostOptions = closedObject({
  public_base_url: Type.Optional(
    baseUrl('The GitHub API that is read without credentials, for claims that no connection of their workspace fits.'),
  ),
  max_pack_mib: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The size in MiB of the largest history that is fetched from a git server.',
    }),
  ),
  git_kept_mib: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'The size in MiB of all histories from git servers together that stay on the disk between checks.',
    }),
  ),
  git_memory_mib: Type.Optional(
    Type.Integer({
      // The least memory is what git and its libraries need.
      minimum: 256,
      description: 'The memory in MiB that each process of git may take.',
    }),
  ),
  git_processes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 256, description: 'How many runs of git work at a time.' }),
  ),
})

export default definePlugin({
  name: 'codehost',
  api: 3,
  manifest: {
    hosts: ['api.github.com', 'gitlab.com', 'api.bitbucket.org', 'connection.base_url', 'options.public_base_url'],
    methods: { graphql: TIMELINE_QUERIES, paths: GRAPHQL_PATHS },
    programs: ['git'],
  },
  options: CodehostOptions,
  async setup({ logger }, options) {
    const { max_pack_mib = 256, git_kept_mib = 1024, git_memory_mib = 512, git_processes = 8 } = options
    const repositories = createRepositories({
      maxPackBytes: max_pack_mib * MIB,
      keptBytes: git_kept_mib * MIB,
      memoryBytes: git_memory_mib * MIB,
      processes: git_processes,
    })
    const providers = [
      github,
      gitlab,
      createGiteaProvider(repositories),
      bitbucket,
      bitbucketServer,
      createGitProvider(repositories),
    ]
    const publicApi = withoutTrailingSlash(options.public_base_url ?? PUBLIC_API)
    const publicHost = {
      provider: github,
      access: { baseUrl: publicApi },
      baseUrl: publicApi,
      names: githubNames(publicApi),
    }
    await requireGit().catch((err: unknown) => logger.warn({ err }, 'git connections cannot be read'))
    return {
      verifiers: verifiersOf({ providers, publicHost }),
      connections: providers.map((provider) => provider.connectionType),
      close: repositories.close,
    }
  },
})
