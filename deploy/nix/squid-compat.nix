# What `services.squid.package` takes: bin/squid is stile-squid.
{ runCommand, stile }:

runCommand "stile-squid-compat-${stile.version}"
{
  meta = stile.meta // { description = "Stile in the place of squid"; mainProgram = "squid"; };
} ''
  mkdir -p $out/bin
  ln -s ${stile}/bin/stile-squid $out/bin/squid
''
