/** Reads attestations from the contract. An event only names an attestation's uid; what it attests is read from the contract. */
import { AnchorerError, type AnchorSubject } from '@claimcheck/core/plugin'
import type { Attestation } from './checker/eas.ts'
import { attestedUids, getAttestationCall, isAttestationOf, readAttestation } from './eas.ts'
import { unexpectedResponse } from './errors.ts'
import type { Log, Node } from './node.ts'

export interface AttestationOptions {
  readonly node: Node
  readonly eas: string
  readonly attester: string
}

/**
 * Finds the uid of the subject's attestation, if one of these events is of it.
 * @throws AnchorerError where the node does not have the attestation yet
 */
export async function attestedUid(
  logs: readonly Log[],
  subject: AnchorSubject,
  { node, eas, attester }: AttestationOptions,
): Promise<string | undefined> {
  for (const uid of attestedUids(logs, eas, attester)) {
    const attestation = await attestationOf(uid, { node, eas })
    // A service's nodes are not equally up to date: the one asked now may not have the block of the event yet.
    if (!attestation) throw unexpectedResponse('the attestation that an event names')
    if (isAttestationOf(attestation, subject)) return uid
  }
  return undefined
}

/** The attestation of the subject's previous anchor; `undefined` for the first. @throws AnchorerError `previous_missing` when it is not on the chain */
export async function previousAttestation(
  { previous }: AnchorSubject,
  options: Pick<AttestationOptions, 'node' | 'eas'>,
): Promise<Attestation | undefined> {
  if (!previous) return undefined
  const attestation = await attestationOf(previous.uid, options)
  if (!attestation) throw new AnchorerError('previous_missing', `${previous.uid} is not on the chain`)
  return attestation
}

async function attestationOf(uid: string, { node, eas }: Pick<AttestationOptions, 'node' | 'eas'>) {
  return readAttestation(await node.call({ to: eas, data: getAttestationCall(uid) }), uid)
}
