/**
 * Rules under which this database has claims. They are published for ever, so that a receipt is compared with the rules of its time; and a plugin
 * that changed its rules without a new version is refused, because claims wait under the old ones.
 */
import type { ProfileList } from '@claimcheck/core/api'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { canonicalize, publishedRules } from '@claimcheck/core/receipts'
import type { Instant, JsonObject, JsonValue, Rules } from '@claimcheck/core/rules'
import { refuse } from '../../plugins/plugin-error.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'
import type { ProfileSettingsRow } from '../../storage/profile-settings.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ClaimsConfig } from './config.ts'
import { decidingIn, profileDigest, profileList } from './profile-list.ts'

interface ProfileSettingsOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly registry: Pick<Registry, 'plugins' | 'allProfiles' | 'isForeign'>
  readonly config: Pick<ClaimsConfig, 'checks'>
  readonly now: () => Instant
}

/** The greatest age of the published settings, which everybody may ask for. */
const PUBLISHED_AGE_MS = 1000

export type ProfileSettings = ReturnType<typeof createProfileSettings>

export function createProfileSettings({ storage, registry, config, now }: ProfileSettingsOptions) {
  const { closingMs, graceMs } = config.checks
  const kept = new Map<ActionProfile, Promise<void> | 'stored'>()
  let read: { readonly at: number; readonly rows: Promise<ProfileSettingsRow[]> } | undefined

  function rowOf(profile: ActionProfile, since: Instant): ProfileSettingsRow {
    const { action, version } = profile
    const deciding = decidingIn(profile) as JsonObject
    return { action, version, digest: profileDigest(profile), closingMs, graceMs, since, deciding }
  }

  async function store(profile: ActionProfile): Promise<void> {
    try {
      const { action, version } = profile
      await storage.write(async (tx) => {
        const since = await tx.profileSettings.takeUnknown(action, version)
        await tx.profileSettings.add(rowOf(profile, since ?? now()))
      })
      kept.set(profile, 'stored')
      read = undefined
    } catch (error) {
      kept.delete(profile)
      throw error
    }
  }

  function keep(profile: ActionProfile): Promise<void> | undefined {
    const known = kept.get(profile)
    if (known === 'stored') return undefined
    const storing = known ?? store(profile)
    if (!known) kept.set(profile, storing)
    return storing
  }

  /** Tells in one line what is wrong with a profile under which there are claims; empty if nothing is. */
  async function problemsOf(profile: ActionProfile, rows: readonly ProfileSettingsRow[]): Promise<string[]> {
    const { action, version } = profile
    const change = changeOf(profile, rows)
    if (!change) return []
    if (await storage.read.profileSettings.hasClaims(action, version)) return [changeWords(profile, change, registry)]
    await storage.write((tx) => tx.profileSettings.remove(action, version))
    return []
  }

  function rows(): Promise<ProfileSettingsRow[]> {
    const at = performance.now()
    if (read && at - read.at < PUBLISHED_AGE_MS) return read.rows
    const current = { at, rows: storage.read.profileSettings.list() }
    read = current
    current.rows.catch(() => {
      if (read === current) read = undefined
    })
    return current.rows
  }

  return {
    /**
     * Compares the stored rules with those of the plugins. Call it before claims are taken.
     * @throws PluginError where the rules of a plugin changed under claims
     */
    async prepare(): Promise<void> {
      const stored = await storage.read.profileSettings.list()
      const problems: string[] = []
      for (const profile of registry.allProfiles()) {
        const own = stored.filter(({ action, version }) => action === profile.action && version === profile.version)
        if (own.length === 0) continue
        const found = await problemsOf(profile, own)
        problems.push(...found)
        if (found.length === 0) await keep(profile)
      }
      refuse(problems)
    },
    /** Stores that there are claims under the rules of a profile; undefined if that is stored already. */
    keep,
    /** Finds the rules of a claim whose plugin is away; undefined where they were never stored. */
    async rulesOf({
      profileAction,
      profileVersion,
      profileDigest: pinned,
    }: Pick<ClaimRow, 'profileAction' | 'profileVersion' | 'profileDigest'>): Promise<Rules | undefined> {
      const known = (await rows()).filter(
        ({ action, version, digest }) =>
          action === profileAction &&
          version === profileVersion &&
          digest !== '' &&
          (pinned === null || digest === pinned),
      )
      return known.length > 0 ? rulesIn(known.at(-1)!) : undefined
    },
    /** Makes the answer of `GET /v1/profiles`. */
    async published(): Promise<ProfileList> {
      const known = (await rows()).filter(({ digest }) => digest !== '')
      return profileList(registry.allProfiles(), config.checks, known, registry.isForeign)
    },
  }
}

/** Lists the rules of loaded plugins that changed under claims of this database. It changes nothing. */
export async function changedRules(
  { profileSettings }: Pick<Storage['read'], 'profileSettings'>,
  registry: ProfileSettingsOptions['registry'],
): Promise<string[]> {
  const stored = await profileSettings.list()
  const problems: string[] = []
  for (const profile of registry.allProfiles()) {
    const { action, version } = profile
    const change = changeOf(
      profile,
      stored.filter((row) => row.action === action && row.version === version),
    )
    if (change && (await profileSettings.hasClaims(action, version)))
      problems.push(changeWords(profile, change, registry))
  }
  return problems
}

/** Names the members that differ from stored rules of the profile; undefined if none does. */
function changeOf(profile: ActionProfile, rows: readonly ProfileSettingsRow[]): string | undefined {
  const other = rows.find(({ digest }) => digest !== '' && digest !== profileDigest(profile))
  return other && differencesOf(other.deciding, decidingIn(profile) as JsonObject).join(', ')
}

function changeWords(
  { action, version }: ActionProfile,
  changed: string,
  { plugins }: Pick<Registry, 'plugins'>,
): string {
  const owner = plugins.find(({ parts }) =>
    parts.verifiers.some(({ profile }) => profile.action === action && profile.version === version),
  )
  return `${owner?.name ?? action}: the rules of the action ${action} changed under its version ${version} (${changed}), and this database has claims or receipts of that version: raise the version of the profile, and offer version ${version} as it was for the claims that wait`
}

function rulesIn(row: ProfileSettingsRow): Rules | undefined {
  const { action, version } = row
  const { settings: profiles } = profileList([], row, [row])
  return publishedRules(JSON.stringify({ profiles }))(action, version)
}

/** Lists the members in which two sets of rules differ. */
function differencesOf(one: JsonObject, other: JsonObject): string[] {
  const text = (value: JsonValue | undefined) => (value === undefined ? '' : canonicalize({ value }))
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort()
  return names.filter((name) => text(one[name]) !== text(other[name]))
}
