/**
 * Classes whose code is read when they are first used. A program is a client or a server as a rule, and code that is read costs at
 * every start. Internal.
 */

/** Stands for a class in all that can be done with one: to make an object, to be extended, `instanceof`, its name and its members. */
export function lazily<Real extends { readonly prototype: object }>(name: string, load: () => Real): Real {
  let real: Real | undefined;
  // A function, for the `prototype` of a class cannot be set. Called as one, it throws as a class does.
  const named = {
    [name]: function () {
      return Reflect.apply(loaded() as unknown as Function, undefined, []);
    },
  };
  const standIn = named[name] as () => unknown;
  const loaded = (): Real => {
    if (real !== undefined) return real;
    real = load();
    standIn.prototype = real.prototype;
    Object.setPrototypeOf(standIn, real);
    Object.defineProperty(real.prototype, 'constructor', { value: proxy, writable: true, configurable: true });
    return real;
  };
  const proxy: Real = new Proxy(standIn as unknown as Real, {
    get(target, name, receiver) {
      loaded();
      return Reflect.get(target, name, receiver);
    },
    construct(_, given, made) {
      const whole = loaded() as unknown as Function;
      return Reflect.construct(whole, given, made === (proxy as unknown) ? whole : made) as object;
    },
  });
  return proxy;
}
