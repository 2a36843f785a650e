/**
 * Compares the plugins of this host with those of the other hosts that run on the same database. While hosts are replaced one after the other, their
 * versions differ. Of one version there is one code: a host whose package has another digest than the same version elsewhere does not start.
 */
import type { FastifyBaseLogger } from 'fastify'
import { createLoop, IDLE } from '../../base/worker.ts'
import { refuse } from '../../plugins/plugin-error.ts'
import type { LoadedPlugin, Registry } from '../../plugins/registry.ts'
import type { HostPlugin, HostPlugins } from '../../storage/host-plugins.ts'
import type { Storage } from '../../storage/storage.ts'
import type { HostIdentity } from '../log/memory/host-identity.ts'

interface AgreementOptions {
  readonly storage: Pick<Storage, 'shared'>
  readonly registry: Pick<Registry, 'plugins'>
  readonly hostIdentity: Pick<HostIdentity, 'hostId'>
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const BEAT_MS = 5000
const LEASE_MS = 3 * BEAT_MS

/** A plugin whose code on another host is not the code here. */
export interface Difference {
  readonly package: string
  /** True for two codes of one version, which no replacement of hosts explains. */
  readonly isSameVersion: boolean
  /** True where the service that runs here has loaded other code than what a command finds. */
  readonly isOwnHost: boolean
  readonly text: string
}

export type PluginAgreement = ReturnType<typeof createPluginAgreement>

export function createPluginAgreement({ storage, registry, hostIdentity, logger }: AgreementOptions) {
  const { shared } = storage
  const own = registry.plugins.map(onHost)
  let found: readonly Difference[] = []
  const said = new Set<string>()

  async function look(): Promise<readonly Difference[]> {
    const hosts = (await shared?.hostPlugins.living()) ?? []
    return differencesFrom({ hostId: hostIdentity.hostId(), plugins: own }, hosts)
  }

  /** Compares with other hosts: a row of this one is of its last run, or this very one. */
  const lookAtOthers = async () => (await look()).filter(({ isOwnHost }) => !isOwnHost)

  const beat = () => shared?.hostPlugins.beat({ hostId: hostIdentity.hostId(), plugins: own }, LEASE_MS)

  function tell(): void {
    for (const { text } of found) {
      if (!said.has(text)) logger.error({ problem: text }, 'hosts of this installation run different code of a plugin')
      said.add(text)
    }
  }

  async function round(): Promise<number> {
    try {
      await beat()
      found = await lookAtOthers()
      tell()
    } catch {
      // Readiness says by itself that the database is away.
    }
    return BEAT_MS
  }

  const leave = async () => {
    await shared?.hostPlugins.leave(hostIdentity.hostId()).catch(() => {})
  }

  return {
    /**
     * Compares with the hosts that run, and tells them of this one. Call it before claims are taken.
     * @throws PluginError where another host has other code under the same version
     */
    async begin(): Promise<void> {
      found = await lookAtOthers()
      refuse(found.flatMap(({ isSameVersion, text }) => (isSameVersion ? [text] : [])))
      await beat()
      tell()
    },
    /** Lists the differences that this host found last. */
    current: (): readonly Difference[] => found,
    /** Compares what this process has loaded with all hosts that run, this one among them. */
    look,
    worker: shared ? createLoop(round, { end: leave }) : IDLE,
  }
}

function onHost({ identity }: Pick<LoadedPlugin, 'identity'>): HostPlugin {
  const { package: name, version = null, codeHash: digest, isShipped = false } = identity
  return { package: name, version, digest, isShipped }
}

/** Finds the plugins of a host that have another digest on other hosts. */
export function differencesFrom({ hostId, plugins }: HostPlugins, hosts: readonly HostPlugins[]): Difference[] {
  return hosts.flatMap((host) => {
    // With a copy of this host's DATA_DIR another one has this id, until it takes an id of its own.
    const where = host.hostId === hostId ? 'the service that runs here' : `the host ${host.hostId.slice(0, 8)}`
    return plugins.flatMap((plugin) => {
      const other = host.plugins.find((one) => one.package === plugin.package)
      return other && other.digest !== plugin.digest ? [differenceOf(plugin, other, where, host.hostId === hostId)] : []
    })
  })
}

function differenceOf(own: HostPlugin, other: HostPlugin, where: string, isOwnHost: boolean): Difference {
  const isSame = own.version !== null && own.version === other.version
  // Each version of the server brings its plugins, and this host's may have been replaced before it starts again.
  const isSameVersion = isSame && !own.isShipped && !other.isShipped && !isOwnHost
  const pair = `${nameOf(other)} on ${where}, and ${nameOf(own)} here`
  const advice = adviceFor({ isSameVersion, isOwnHost })
  return { package: own.package, isSameVersion, isOwnHost, text: `the plugin ${own.package} is ${pair}: ${advice}` }
}

function adviceFor({ isSameVersion, isOwnHost }: Pick<Difference, 'isSameVersion' | 'isOwnHost'>): string {
  if (isSameVersion)
    return 'one version has one code: install the same package on all hosts, or publish the change under a new version'
  if (isOwnHost) return 'restart the service to use what is installed here'
  return 'claims of a profile version that one of them lacks wait for the other: replace the rest of the hosts'
}

function nameOf({ version, digest }: HostPlugin): string {
  const short = digest.slice(0, 'sha256:'.length + 12)
  return version === null ? short : `${version} (${short})`
}
