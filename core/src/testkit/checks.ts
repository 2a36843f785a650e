/** The kit's checks by their stable names, each as the sentence that is true of a right plugin. */
import { FAULTS } from './faults.ts'

/** By name. */
export const CHECKS: Readonly<Record<string, string>> = {
  'plugin.form': 'a plugin has the form of the contract',
  'plugin.options': 'a plugin takes the options that it is given',
  'plugin.setup': 'a plugin sets up',
  'profile.lint': 'a profile is safe to publish and plain to read',
  'profile.aliases': 'an alias names providers that the plugin offers',
  'profile.examples': 'an example is valid itself',
  'profile.access': 'a claim can be read somehow',
  'words.fill': 'the words of a claim and of its verdict have all their values',
  'normalize.valid': 'normalize makes claims that the profile allows',
  'normalize.stable': 'normalize leaves alone what it has normalized',
  'case.claim': 'a claim is valid, and the same each time',
  'case.read': 'a check can be made',
  'case.sees': 'a check sees what is there',
  'case.verdict': 'the rules give the right verdict over all checks of a claim',
  'observation.form': 'an observation has the form of the contract',
  'observation.facts': 'facts are what the profile says, and their numbers are integers',
  'observation.differs': 'differs names required fields',
  'observation.mark': 'a mark is one of the contract, and never on what is there as claimed',
  'observation.stays': 'stays are times in order',
  'same.observation': 'the same answers give the same observation',
  'same.requests': 'the same situation leads to the same requests',
  'clock.machine': "a check reads the host's clock only",
  'requests.origin': 'a check asks its base address only',
  'requests.methods': 'a check sends GET and HEAD, and the calls that its manifest declares',
  'requests.limits': 'a check stays within its limit of requests',
  'requests.handles': "a secret's handle is given to auth alone",
  'requests.reveal': 'only a plugin with programs asks for a credential in clear',
  'requests.own-network': 'a check opens no connection of its own',
  'secrets.long-enough': "the test's own secrets are long enough to be found",
  'secrets.in-facts': 'no secret comes into facts',
  'secrets.in-errors': 'no secret comes into errors',
  'secrets.in-logs': 'no secret comes into logs',
  'abort.heeded': 'a check ends within 100 ms of its abort',
  'cache.serves-old': 'a check sees what has changed since an earlier check',
  'share.joins-old-read': 'a check sees what changed while another check was reading',
  'mark.final': 'what is marked final never changes',
  'absence.parent-read': 'absence needs an answer that shows that the credentials may see the place',
  'absence.hides-permission': 'what credentials may not see is not absent',
  'load.fifty': 'fifty checks at once see the same',
  'close.throws': 'a plugin closes',
  'close.nothing-open': 'nothing is open after close',
  ...Object.fromEntries(
    FAULTS.map(({ name, says, right }) => [name, `${says} is \`${right[0]}\`, and never a finding`]),
  ),
  'fault.clock-off': 'a clock that is an hour ahead changes nothing of what is there',
  'fault.stale-replica': 'an answer from before, with an Age, is never marked as certain',
}

export function describeCheck(name: string): string {
  return CHECKS[name] ?? name
}
