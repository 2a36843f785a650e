/** Each verdict at each kind of destination, through the whole service. What a host tells otherwise than others is played in `lives`. */
import { textFingerprint } from '@claimcheck/core/receipts'
import { status } from '../destinations/faults.ts'
import { GitServer } from '../destinations/git-server.ts'
import { integrityOf } from '../destinations/verdaccio.ts'
import { FORGES, type Forge } from './lives/forges.ts'
import type { Play, Trap, Truth } from './trap.ts'
import { type Ground, PRIVATE, PUBLIC, type World } from './world.ts'

const MINUTE = 60_000
const [LATE, DOWN] = ['late/observed_after_tolerance', 'unverifiable/destination_unavailable']
type Outcome = readonly [truth: Truth, verdict: string]
/** Claimed just now, unless it says otherwise. */
type Given = Partial<Play> & Pick<Play, 'target' | 'params'>

const EVERYWHERE = {
  verified: ['in_time', 'verified'],
  late: ['late', LATE],
  absent: ['never', 'failed/not_found'],
  otherBase: ['elsewhere', 'mismatch/target_mismatch'],
  otherContent: ['elsewhere', 'mismatch/content_mismatch'],
  down: ['unknowable', DOWN],
} as const satisfies Record<string, Outcome>

function trap(
  name: string,
  [truth, verdict]: Outcome,
  action: string,
  set: (world: World) => Promise<Given> | Given,
): Trap {
  return {
    ...{ name, truth, verdict },
    async play(world) {
      const claimed_at = new Date(world.clock.now()).toISOString()
      return { client: world.parts.anonymous, action, claimed_at, ...(await set(world)) }
    },
  }
}

const TELLS_NUMBERS: ReadonlySet<string> = new Set(['github', 'gitlab', 'bitbucket'])

function pullRequests(forge: Forge): Trap[] {
  const row = (name: string, outcome: Outcome, set: (ground: Ground) => Promise<Omit<Given, 'target'>>) =>
    trap(`${forge.name}: a pull request ${name}`, outcome, 'codehost.pull_request.open', async (world) => {
      const ground = await world.repository(forge)
      await ground.repository.push('topic', ground.sha)
      return { client: world.parts.forges.get(forge)!.client, target: ground.slug, ...(await set(ground)) }
    })
  const open = ({ repository }: Ground, base = 'main') => repository.pullRequests.open({ head: 'topic', base })
  return [
    row('that is opened', EVERYWHERE.verified, async (ground) => ({ params: { number: await open(ground) } })),
    row('that is opened too late', EVERYWHERE.late, async (ground) => ({
      ...{ params: { number: 1 }, afterMs: 13 * MINUTE },
      meanwhile: async () => void (await open(ground)),
    })),
    // So far above all others no host hides one. Elsewhere looks that follow each other blame, and here time is skipped: `lives` play it.
    ...(TELLS_NUMBERS.has(forge.name)
      ? [row('that is never opened', EVERYWHERE.absent, async () => ({ params: { number: 77 } }))]
      : []),
    row('into another base', EVERYWHERE.otherBase, async (ground) => {
      await ground.repository.push('develop', ground.base)
      return { params: { number: await open(ground, 'develop'), base: 'main' } }
    }),
    row('at a host that is down', EVERYWHERE.down, async (ground) => {
      const { world, slug } = ground
      const on = new RegExp(slug.replace('/', '(?:/|%2F|/repos/)'), 'i')
      world.parts.forges.get(forge)!.standIn.faults.inject({ fault: status(502), on })
      return { params: { number: await open(ground) } }
    }),
  ]
}

const NOWHERE = 'a'.repeat(40)

const gitTraps: readonly Trap[] = (
  [
    ['pushed', EVERYWHERE.verified, 'main', undefined],
    ['pushed to another branch', EVERYWHERE.otherBase, 'topic', undefined],
    ['an invented id', EVERYWHERE.absent, 'main', NOWHERE],
  ] as const
).map(([name, outcome, branch, claimed]) =>
  trap(`git: ${name}`, outcome, 'codehost.commit.push', async (world) => {
    const { git, atGit } = world.parts
    const slug = `${world.nextName()}/app`
    const repository = await git.createRepository(slug)
    const base = await repository.commit({ parents: [await repository.commit()] })
    await repository.push('main', base)
    const sha = await repository.commit({ parents: [base] })
    await repository.push(branch, sha)
    return { client: atGit, target: slug, params: { sha: claimed ?? sha, branch: 'main' } }
  }),
)

const gitIsDown = trap('git: its server is down', EVERYWHERE.down, 'codehost.commit.push', async (world) => {
  const gone = await GitServer.start()
  const client = await world.connected(['git', { base_url: gone.url }])
  await gone.close()
  return { client, target: 'acme/app', params: { sha: NOWHERE, branch: 'main' }, ...world.soon() }
})

type Registry = 'npm' | 'pypi' | 'cargo'
const REGISTRIES = {
  npm: { publish: ({ npm }, name) => void npm.publish(name, '1.0.0'), at: ({ npm }) => npm },
  pypi: { publish: ({ pypi }, name, at) => void pypi.upload(name, '1.0.0', { at }), at: ({ pypi }) => pypi },
  cargo: { publish: ({ crates }, name) => void crates.publish(name, '1.0.0'), at: ({ crates }) => crates },
} satisfies Record<
  Registry,
  {
    readonly publish: (parts: World['parts'], name: string, at: number) => void
    readonly at: (parts: World['parts']) => Pick<World['parts']['npm'], 'faults'>
  }
>

/** A second before it is claimed: what came since could have replaced it. */
const publishedAt = ({ clock }: World) => clock.now() - 3000

function packages(kind: Registry): Trap[] {
  const { publish, at } = REGISTRIES[kind]
  const row = (
    name: string,
    outcome: Outcome,
    set: (world: World, publishIt: () => void, name: string) => Partial<Play>,
  ) =>
    trap(`${kind}: a version ${name}`, outcome, 'registry.package.publish', (world) => {
      const own = world.nextName()
      const { params, ...given } = set(world, () => publish(world.parts, own, publishedAt(world)), own)
      return { target: `${kind}:${own}`, params: { version: '1.0.0', ...params }, ...given }
    })
  return [
    row('that is published', EVERYWHERE.verified, (_, publishIt) => {
      publishIt()
      return {}
    }),
    row('that is published too late', EVERYWHERE.late, (world, publishIt) => ({
      ...world.times(10 * MINUTE, 8 * MINUTE),
      ...{ afterMs: 12 * MINUTE, meanwhile: async () => publishIt() },
    })),
    row('that never was', EVERYWHERE.absent, () => ({})),
    row('of another content', EVERYWHERE.otherContent, (_, publishIt) => {
      publishIt()
      return { params: { integrity: kind === 'npm' ? integrityOf('other') : 'ab'.repeat(32) } }
    }),
    row('at a registry that is down', EVERYWHERE.down, (world, _, name) => {
      at(world.parts).faults.inject({ fault: status(503), on: new RegExp(`/${name}`) })
      return world.soon()
    }),
  ]
}

const HELLO = 'Hello\n'
const page = (world: World, code = 200) =>
  world.site((_, response) => void response.writeHead(code, { connection: 'close', etag: '"1"' }).end(HELLO))
const url = (name: string, outcome: Outcome, set: (world: World) => { readonly host: string } & Partial<Play>) =>
  trap(`http: ${name}`, outcome, 'http.url.status', (world) => {
    const { host, ...given } = set(world)
    return { target: `https://${host}/news`, params: {}, ...given }
  })
const saying = (text: string) => ({ params: { content_fingerprint: textFingerprint(text) } })

const urls: readonly Trap[] = [
  url('a page with the claimed text', EVERYWHERE.verified, (world) => ({ host: page(world), ...saying(HELLO) })),
  url('a page with another text', EVERYWHERE.otherContent, (world) => ({ host: page(world), ...saying('Bye\n') })),
  url('a page that never comes', EVERYWHERE.absent, (world) => ({ host: page(world, 404) })),
  url('a site that is down', EVERYWHERE.down, (world) => ({ host: page(world, 500), ...world.soon() })),
  url('a redirect to its own www', EVERYWHERE.verified, ({ parts: { sites } }) => {
    const location = `https://www.${sites.domain}/news`
    sites.serve(sites.domain, (_, response) => void response.writeHead(301, { location }).end())
    sites.serve(`www.${sites.domain}`, (_, response) => void response.end(HELLO))
    return { host: sites.domain, facts: { final_url: location } }
  }),
  url('a redirect to a private address', ['unknowable', 'unverifiable/claim_ambiguous'], (world) => ({
    host: world.site((_, response) => void response.writeHead(302, { location: `https://${PRIVATE}/news` }).end()),
    ...world.soon(),
  })),
  url('a certificate that the server signed itself', EVERYWHERE.down, (world) => ({
    ...{ host: 'www.untrusted.example', ...world.soon() },
  })),
  url('a name of a public and of a private address', EVERYWHERE.down, (world) => {
    const host = page(world)
    world.parts.internet.name(host, PUBLIC, PRIVATE)
    return { host, ...world.soon() }
  }),
  url('a name that becomes one of a private address, where the page is', EVERYWHERE.down, (world) => {
    const host = page(world, 404)
    return {
      ...{ host, afterMs: 10_000 },
      async meanwhile() {
        world.parts.sites.serve(host, (_, response) => void response.end(HELLO))
        world.parts.internet.name(host, PRIVATE)
      },
    }
  }),
]

export const verdictTraps: readonly Trap[] = [
  ...FORGES.flatMap(pullRequests),
  ...gitTraps,
  gitIsDown,
  ...(['npm', 'pypi', 'cargo'] as const).flatMap(packages),
  ...urls,
]
