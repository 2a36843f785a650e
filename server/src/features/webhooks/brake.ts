/**
 * The brake of sending: claims go first. Between its rounds sending rests for about the time that the claims took which this host decided since the last
 * one, and no longer than keeps deliveries moving.
 */
import { type EventLoopUtilityFunction, performance } from 'node:perf_hooks'

/** The rest for each claim. */
const CLAIM_MS = 1.5
/** The longest rest for each delivery of a round: a host with claims without end still sends 250 deliveries a second. */
const MOST_MS = 4
/** The utilization of the event loop below which there is room for everything. */
const IDLE = 0.4

/**
 * @param decided returns how many claims this host has decided
 * @param utilization replaces that of the event loop in tests
 */
export function createBrake(
  decided: () => number,
  utilization: EventLoopUtilityFunction = performance.eventLoopUtilization,
) {
  let count = decided()
  let loop = utilization()
  let rest = 0
  return {
    /** Tells whether the last rest was for claims. */
    isOn: () => rest > 0,
    /** Returns the rest that is due after a round that made or began so many deliveries. */
    restAfter(deliveries: number): number {
      const claims = decided() - count
      const { utilization: used } = utilization(loop)
      count += claims
      loop = utilization()
      rest = used < IDLE ? 0 : Math.min(claims * CLAIM_MS, deliveries * MOST_MS)
      return rest
    },
  }
}
