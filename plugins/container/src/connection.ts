/** The connection of a workspace to a container registry, and a first read that tells whether its credentials work. */
import {
  credential,
  DestinationError,
  defineConnectionType,
  isRefused,
  type Static,
  secret,
  statusError,
  Type,
} from '@claimcheck/core/plugin'
import { distribution, githubPackages } from './hints.ts'
import { imageOf, isAt, typedAddress } from './image.ts'
import { SEGMENT } from './profile.ts'

const address = (example: string) => ({
  pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*/?$',
  'x-pattern-help': 'enter an address that begins with https://, without a user name and a path',
  maxLength: 300,
  examples: [example],
})

const Options = Type.Object(
  {
    base_url: Type.String({
      title: 'Address',
      description: 'The address of the registry. Docker Hub: `https://registry-1.docker.io`.',
      ...address('https://registry.example.com'),
    }),
    username: Type.Optional(
      Type.String({
        title: 'User name',
        description: 'As `docker login` takes it. When left out: the registry is read as anybody.',
        minLength: 1,
        maxLength: 300,
      }),
    ),
    password: Type.Optional(
      secret({ title: 'Password', description: 'The password, or better a token that only pulls.' }),
    ),
    token_url: Type.Optional(
      Type.String({
        title: 'Address of tokens',
        description:
          "Where the registry's tokens are issued, if that is another address: for a GitLab's registry the GitLab itself. Docker Hub and gitlab.com need none.",
        ...address('https://gitlab.example.com'),
      }),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make credentials that only pull: at Docker Hub a personal access token "Public Repo Read-only" or "Read-only"; for GHCR a classic token
with read:packages alone; at GitLab a deploy token with read_registry; at Harbor and Quay a robot account that may pull. Connect the registry to
which images are pushed: a pull-through cache fetches what it is asked for, and shows it as its own.`

/** The name of a repository, as registries have it. */
const REPOSITORY = new RegExp(`^${SEGMENT}(?:/${SEGMENT})*$`)

export const connectionType = defineConnectionType({
  provider: 'oci',
  title: 'Container registry',
  options: Options,
  credentials: {
    registry: { scheme: 'challenge', username: 'username', password: 'password' },
    anyone: { scheme: 'challenge' },
  },
  help: HELP,
  baseUrl: ({ base_url }) => typedAddress(base_url),
  fits: ({ base_url }, { target }) => isAt(imageOf(target).host, base_url),
  refusesHidden: true,
  trial: {
    title: 'Repository',
    description: 'One that is to be read through this connection, by its name without the host.',
    example: 'acme/api',
  },
  hints: [githubPackages, distribution],
  async probe({ base_url, username }, { fetch, now, target }) {
    const url = typedAddress(base_url)
    async function read(path: string, name: 'registry' | 'anyone') {
      const response = await fetch(`${url}/v2/${path}`, { auth: credential(name) })
      await response.body?.cancel()
      if (response.status !== 200) throw statusError(response, now())
    }
    const rights = username === undefined ? [] : [UNKNOWN_RIGHTS]
    if (target === undefined) {
      await read('', 'registry')
      return { proves: 'reached', scopes: [], warnings: rights }
    }
    if (!REPOSITORY.test(target)) throw new DestinationError('unsupported_target')
    const path = `${target}/tags/list`
    await read(path, 'registry')
    const works = username === undefined || (await isRefused(() => read(path, 'anyone')))
    return { proves: works ? 'works' : 'reached', scopes: [], warnings: works ? rights : [...rights, OPEN] }
  },
})

const UNKNOWN_RIGHTS =
  'The registry does not tell whether these credentials can also push: make sure that they were made to pull only.'
const OPEN =
  'Anybody can read the repository that was tried, so that it shows nothing of these credentials: try a private one.'
