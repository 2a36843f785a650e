/** What a host of plugins needs beyond their contract: `@claimcheck/core/hosting`. */

export {
  authHeader,
  isSecret,
  type SecretValues,
  secretHandle,
  secretNames,
  withoutSecretValues,
} from './contract/auth.ts'
export { createHttp } from './contract/http.ts'
export { isPlugin, PLUGIN_API } from './contract/plugin.ts'
export { profileProblems } from './contract/profile-problems.ts'
export { type PublishedWords, publishedWords } from './contract/published-words.ts'
export {
  isLiteral,
  isOwnWww,
  normalAddress,
  originOf,
  requireOrigin,
  type SocketAddress,
  socketAddress,
  unbracketed,
} from './hosting/base-address.ts'
export { BreachError } from './hosting/breach.ts'
export { callBody } from './hosting/calls.ts'
export { digestAnswer, digestHeaders } from './hosting/digest.ts'
export { declaredHosts, type Grant, grantOf } from './hosting/grants.ts'
export { credentialHeader, requestHeaders } from './hosting/headers.ts'
export { MAX_AGE_MS, type ReadObservation, readObservation } from './hosting/observation.ts'
export { hasHandle, putSecrets } from './hosting/put-secrets.ts'
export { clockOffset, mergeReadings, NO_READINGS, type Readings, readAnswer } from './hosting/readings.ts'
