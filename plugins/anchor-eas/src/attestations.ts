/** Attestations as the contract has them. It is asked what it attests: an event only tells where to ask. */
import { AnchorerError, type AnchorSubject } from '@claimcheck/core/plugin'
import { type Attestation, attestedUids, getAttestationCall, isAttestationOf, readAttestation } from './eas.ts'
import type { Log, Node } from './node.ts'
import { notUnderstood } from './values.ts'

export interface AttestationOptions {
  readonly node: Node
  readonly eas: string
  readonly attester: string
}

/** The uid of the subject's attestation among the events of a transaction. */
export async function uidAmong(
  logs: readonly Log[],
  subject: AnchorSubject,
  { node, eas, attester }: AttestationOptions,
): Promise<string | undefined> {
  for (const uid of attestedUids(logs, eas, attester)) {
    const attestation = await attestationOf(uid, { node, eas })
    // A node that is behind the one that told of the event has none: that says nothing.
    if (!attestation) throw notUnderstood('the attestation that an event tells of')
    if (isAttestationOf(attestation, subject)) return uid
  }
  return undefined
}

/** The attestation that the subject's names as the one before it; undefined for the first. @throws AnchorerError `previous_missing` */
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
