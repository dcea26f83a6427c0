/**
 * Node 20 has no Promise.withResolvers, which Restate's SDK uses. Imported before it.
 */
Promise.withResolvers ??= function withResolvers() {
  let resolve;
  let reject;
  const promise = new this((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
};
