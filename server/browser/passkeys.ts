/** Passkeys in the browser. */
export {}
