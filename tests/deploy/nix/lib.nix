# A small stand-in for nixpkgs' lib: what the modules of deploy/nix use, with types that check.
let
  inherit (builtins) all attrNames concatLists concatStringsSep elem elemAt filter foldl' hasAttr head
    isAttrs isBool isInt isList isString length listToAttrs map mapAttrs match sort stringLength
    substring toJSON;

  typeOf' = value: if isAttrs value then value._type or "" else "";
  unique = foldl' (seen: item: if elem item seen then seen else seen ++ [ item ]) [ ];
  names = sets: unique (concatLists (map attrNames sets));

  # Conditions and priorities travel down to single values, so that a condition is looked at only
  # where its value is: an option may decide whether others are set.
  push = def:
    if typeOf' def == "if" then
      mapAttrs (_: value: { _type = "if"; inherit (def) condition; content = value; }) (push def.content)
    else def;

  discharge = def:
    if typeOf' def == "if" then (if def.condition then discharge def.content else [ ])
    else if typeOf' def == "override" then [{ inherit (def) priority; value = def.content; }]
    else [{ priority = 100; value = def; }];

  # The values of the best priority.
  values = defs:
    let
      all' = concatLists (map discharge defs);
      best = foldl' (low: def: if def.priority < low then def.priority else low) 10000 all';
    in
    map (def: def.value) (filter (def: def.priority == best) all');

  fail = loc: what: throw "${concatStringsSep "." loc}: ${what}";

  one = loc: found:
    if all (value: value == head found) found then head found else fail loc "set twice, differently";

  # Without a declaration: sets are merged, lists joined.
  raw = loc: defs:
    let found = values defs; in
    if all isAttrs found && found != [ ] && !(head found ? outPath) then
      let defsOf = name: map (set: set.${name}) (filter (hasAttr name) found); in
      listToAttrs (map
        (name: { inherit name; value = raw (loc ++ [ name ]) (defsOf name); })
        (filter (name: values (defsOf name) != [ ]) (names found)))
    else if all isList found then concatLists found
    else one loc found;

  node = { loc, options, defs, free }:
    let
      pushed = map push defs;
      defsOf = name: map (def: def.${name}) (filter (def: def ? ${name}) pushed);
      entry = name:
        let
          here = loc ++ [ name ];
          option = options.${name} or null;
          own = defsOf name;
        in
        if option == null then
          (if free then raw here own else fail here "there is no such option")
        else if typeOf' option == "option" then
          (if own == [ ] || values own == [ ] then
            (if option ? default then option.type.merge here [ option.default ] else fail here "is not set")
          else option.type.merge here own)
        else node { loc = here; options = option; defs = own; free = free && loc != [ ]; };
      # At the top every name stays: whether its value is there may depend on another name's.
      present = filter
        (name: loc == [ ] || options ? ${name} || values (defsOf name) != [ ])
        (unique (attrNames options ++ names pushed));
    in
    listToAttrs (map (name: { inherit name; value = entry name; }) present);

  simple = what: check: {
    merge = loc: defs:
      let value = one loc (values defs); in
      if check value then value else fail loc "${toJSON value} is not ${what}";
  };

  types = {
    raw = { merge = raw; };
    str = simple "a string" isString;
    bool = simple "a boolean" isBool;
    int = simple "an integer" isInt;
    port = simple "a port" (value: isInt value && value >= 0 && value <= 65535);
    package = simple "a package" (value: value ? outPath);
    enum = allowed: simple "one of ${toJSON allowed}" (value: elem value allowed);
    nullOr = type: {
      merge = loc: defs: if values defs == [ null ] then null else type.merge loc defs;
    };
    listOf = type: {
      merge = loc: defs:
        let found = values defs; in
        if all isList found then map (item: type.merge loc [ item ]) (concatLists found)
        else fail loc "is not a list";
    };
    attrsOf = type: {
      merge = loc: defs:
        let pushed = map push (values defs); in
        listToAttrs (map
          (name: {
            inherit name;
            value = type.merge (loc ++ [ name ]) (map (set: set.${name}) (filter (hasAttr name) pushed));
          })
          (names pushed));
    };
    submodule = module: {
      merge = loc: defs: node {
        inherit loc defs;
        inherit (module) options;
        free = module ? freeformType;
      };
    };
  };

  mergeTrees = a: b: a // mapAttrs
    (name: value: if a ? ${name} && typeOf' value != "option" then mergeTrees a.${name} value else value)
    b;

  mkOption = option: option // { _type = "option"; };
in
rec {
  inherit types mkOption unique filter concatStringsSep;
  mkIf = condition: content: { _type = "if"; inherit condition content; };
  mkDefault = content: { _type = "override"; priority = 1000; inherit content; };
  mkEnableOption = description: mkOption { type = types.bool; default = false; inherit description; };
  mkPackageOption = pkgs: name: _: mkOption { type = types.package; default = pkgs.${name}; };
  literalExpression = text: text;
  filterAttrs = keep: set: listToAttrs (map (name: { inherit name; value = set.${name}; })
    (filter (name: keep name set.${name}) (attrNames set)));
  mapAttrsToList = make: set: map (name: make name set.${name}) (attrNames set);
  optionalAttrs = condition: set: if condition then set else { };
  last = list: elemAt list (length list - 1);
  splitString = separator: text: filter isString (builtins.split separator text);
  hasPrefix = prefix: text: substring 0 (stringLength prefix) text == prefix;
  toInt = text: builtins.fromJSON text;

  # The config of all modules together; what no module declares is merged as it comes.
  evalModules = { modules, pkgs, lib }:
    let
      loaded = map (module: if builtins.isFunction module then module { inherit config pkgs lib; } else module) modules;
      config = node {
        loc = [ ];
        options = foldl' mergeTrees { } (map (module: module.options or { }) loaded);
        defs = map (module: module.config or (removeAttrs module [ "options" ])) loaded;
        free = true;
      };
    in
    config;
}
