/** The verifier of `registry.package.publish`: it asks the claim's registry for the version, and reports what it showed. */
import {
  CEILING,
  type Claim,
  type Connection,
  DestinationError,
  defineVerifier,
  type JsonObject,
  type Verifier,
} from '@claimcheck/core/plugin'
import { addressOf } from './connection.ts'
import type { Ecosystem, Place, Query } from './ecosystem.ts'
import { algorithmOf, normalizeIntegrity } from './integrity.ts'
import { toObservation } from './observe.ts'
import { type Params, publishProfile } from './profile.ts'
import { unexpected } from './reader.ts'

/** Time by which caches and replicas lag at times, also of registries that keep no answer for longer. Milliseconds. */
const LAG_MS = 10_000

type Normalizable = Pick<Claim<Params>, 'target' | 'params'>

export function createPublish(ecosystems: readonly Ecosystem[]): Verifier {
  const byName = new Map<string, Ecosystem>(ecosystems.map((ecosystem) => [ecosystem.name, ecosystem]))

  /**
   * Reads the ecosystem and the query of a claim.
   * @throws DestinationError `unsupported_target` with the param that can be at no registry of the kind
   */
  function read({ target, params }: Normalizable): { readonly ecosystem: Ecosystem } & Omit<Query, 'inTimeUntil'> {
    const [ecosystem, name] = split(target)
    const version = ecosystem.normalizeVersion(params.version)
    const { integrity } = params
    const isComparable = integrity === undefined || ecosystem.algorithms.includes(algorithmOf(integrity))
    if (version === undefined) throw new DestinationError('unsupported_target', { param: 'version' })
    if (!isComparable) throw new DestinationError('unsupported_target', { param: 'integrity' })
    return { ecosystem, name, version, ...(integrity !== undefined && { integrity }) }
  }

  function split(target: string): [Ecosystem, string] {
    const at = target.indexOf(':')
    return [byName.get(target.slice(0, at))!, target.slice(at + 1)]
  }

  return defineVerifier({
    profile: publishProfile,
    providers: [...byName.keys()],
    // The limits are high for rare cases: a crate has up to 32 spellings, an npm package of many versions has a document of tens of MiB, and a file
    // of 512 MiB takes a while.
    limits: { requests: 40, bodyBytes: CEILING.bodyBytes, timeMs: 60_000 },
    normalize({ target, params }) {
      const [ecosystem, name] = split(target)
      const { version, integrity, registry, ...rest } = params
      return {
        target: `${ecosystem.name}:${ecosystem.normalizeName(name)}`,
        params: {
          ...rest,
          // A text that is no version stays, and is refused when the place to read it is asked for.
          version: ecosystem.normalizeVersion(version) ?? version,
          ...(integrity !== undefined && { integrity: normalizeIntegrity(integrity) }),
          ...(registry !== undefined && { registry: registry.toLowerCase() }),
        },
      }
    },
    anonymousSource(claim) {
      const { ecosystem } = read(claim)
      const { registry } = claim.params
      if (registry !== undefined && !ecosystem.namesOf(ecosystem.publicUrl).includes(registry)) return undefined
      return { provider: ecosystem.name, baseUrl: ecosystem.publicUrl }
    },
    destination(claim, { options }) {
      return addressOf(options, read(claim as Claim<Params>).ecosystem.publicUrl)
    },
    async check(claim, context) {
      const { ecosystem, ...query } = read(claim)
      const sentAt = context.now()
      const inTimeUntil = claim.claimedAt + publishProfile.toleranceMs
      const place = placeOf(ecosystem, context.connection)
      const found = await ecosystem.find({ ...query, inTimeUntil }, place, context)
      const isAsClaimed = found.isListed && found.hasContent !== false
      if (found.isDoubtful && !isAsClaimed) throw unexpected()
      const look = {
        claimedAt: claim.claimedAt,
        inTimeUntil,
        sentAt,
        answeredAt: context.now(),
        previous: context.previous,
        namesContent: query.integrity !== undefined,
        keeps: ecosystem.publicKeeps && place.isPublic,
        recordSince: found.recordSince ?? Number.NEGATIVE_INFINITY,
      }
      // A look just after the submission gets no lag where there is no record: it alone shows that the version was not there yet.
      const isLate = sentAt >= inTimeUntil
      const hasRecord = ecosystem.publicKeeps && found.facts.package_listed
      const publicLagMs = place.isPublic && (hasRecord || isLate) ? ecosystem.publicLagMs : 0
      const ageMs = Math.max(publicLagMs, isLate ? LAG_MS : 0)
      return { ...toObservation(found, look), ...(ageMs > 0 && { ageMs }) }
    },
  })
}

function placeOf(ecosystem: Ecosystem, connection: Connection | null): Place {
  const { publicUrl, isPublicName } = ecosystem
  const options: JsonObject = connection?.options ?? {}
  const baseUrl = addressOf(options, publicUrl)
  const isPublic = baseUrl === publicUrl
  return {
    baseUrl,
    isPublic,
    auth: ecosystem.authOf(options),
    sees: (name) => options.sees_all_packages === true || (isPublic && isPublicName(name)),
  }
}
