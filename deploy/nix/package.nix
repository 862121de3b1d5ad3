# Stile, built from this repository with what nixpkgs has.
{ lib
, stdenv
, cmake
, ninja
, pkg-config
, boost
, c-ares
, cli11
, libmnl
, libpsl
, libseccomp
, nftables
, nlohmann_json
, openssl
, prometheus-cpp
, re2
, systemd
, tomlplusplus
, zlib
}:

stdenv.mkDerivation {
  pname = "stile";
  version = "0.1.0";
  src = lib.cleanSource ../..;

  nativeBuildInputs = [ cmake ninja pkg-config ];
  buildInputs = [
    boost
    c-ares
    cli11
    libmnl
    libpsl
    libseccomp
    nftables
    nlohmann_json
    openssl
    prometheus-cpp
    re2
    systemd
    tomlplusplus
    zlib
  ];

  # The tests need names, ports and programs that a build has not.
  cmakeFlags = [ "-DSTILE_TESTS=OFF" ];

  # Config belongs to the module, not to the store.
  installPhase = ''
    runHook preInstall
    DESTDIR=$TMPDIR/etc-only cmake --install . --prefix $out
    cp -r $TMPDIR/etc-only$out $out
    runHook postInstall
  '';

  meta = {
    description = "Egress-filtering forward proxy for untrusted agents";
    license = lib.licenses.asl20;
    platforms = lib.platforms.linux;
    mainProgram = "stile";
  };
}
