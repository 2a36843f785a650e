/** The plugin codehost: checks pushes at code hosts. A new kind of host is one more provider in the list below. */
import { definePlugin, Type } from '@claimcheck/core/plugin'
import { createCommitPush } from './commit-push.ts'
import { createCommitPushV1 } from './commit-push-v1.ts'
import { baseUrl, withoutTrailingSlash } from './connection-options.ts'
import { createGitProvider } from './git/provider.ts'
import { requireGit } from './git/version.ts'
import { createGitHubHost } from './github/find-commit.ts'
import { github, githubNames, PUBLIC_API } from './github/provider.ts'

const MIB = 1024 * 1024
const DEFAULT_PACK_MIB = 256

const Options = Type.Object(
  {
    public_base_url: Type.Optional(
      baseUrl(
        'The GitHub API that is read without credentials, for claims that no connection of their workspace fits.',
      ),
    ),
    max_pack_mib: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'The size in MiB of the largest history that is fetched from a git server.',
      }),
    ),
  },
  { additionalProperties: false },
)

export default definePlugin({
  name: 'codehost',
  api: 1,
  options: Options,
  async setup({ logger }, { public_base_url = PUBLIC_API, max_pack_mib = DEFAULT_PACK_MIB }) {
    const providers = [github, createGitProvider({ maxPackBytes: max_pack_mib * MIB })]
    const publicApi = withoutTrailingSlash(public_base_url)
    const publicHost = {
      host: createGitHubHost({ baseUrl: publicApi }),
      provider: github.connectionType.provider,
      baseUrl: publicApi,
      names: githubNames(publicApi),
    }
    await requireGit().catch((err: unknown) => logger.warn({ err }, 'git connections cannot be read'))
    return {
      verifiers: [createCommitPush({ providers, publicHost }), createCommitPushV1({ providers, publicHost })],
      connections: providers.map((provider) => provider.connectionType),
    }
  },
})
